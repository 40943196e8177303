"""A caller's schema in the terms of one wire, and a model's input in the caller's again."""
