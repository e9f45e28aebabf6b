"""The screen of settings: its rows, and what applies immediately."""
