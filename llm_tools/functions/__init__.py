"""Functions of a call: read, derived from Python, rewritten per provider, validated."""
