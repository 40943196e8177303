"""What the two wires of Claude have in common: the Messages API and Converse."""
