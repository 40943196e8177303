"""Whether a record of an endpoint says what can work: every flaw of it, at once."""
