"""Panels: a View in, lines out; one subject each."""
