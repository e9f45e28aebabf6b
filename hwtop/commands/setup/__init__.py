"""Commands for before a run, and for hwtop itself."""
