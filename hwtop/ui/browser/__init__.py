"""The screen as cells, for a tab of a browser."""
