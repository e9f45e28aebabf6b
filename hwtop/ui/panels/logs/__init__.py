"""Log lines, their context, and what the other ranks said."""
