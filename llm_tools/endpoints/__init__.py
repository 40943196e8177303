"""Hosts that speak the dialects, as data."""
