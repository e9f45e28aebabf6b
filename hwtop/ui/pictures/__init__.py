"""The screen without a terminal: text, SVG, PNG."""
