"""Commands that keep what was seen, and read it again."""
