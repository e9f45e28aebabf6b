"""Widgets: text and numbers in, lines out; they know no word of the domain."""
