"""Spoilt input: what hwtop reads and does not control, changed at random from a seed."""
