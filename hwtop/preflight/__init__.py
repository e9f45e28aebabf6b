"""Checks before a run: one small object a check, one file a family, one list of all (`registry.py`)."""
