"""Accelerators: `source.py` is the one source of all vendors, a package each vendor."""
