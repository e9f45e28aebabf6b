"""Commands that print what hwtop knows."""
