"""The screen of settings: its rows, and what holds at once."""
