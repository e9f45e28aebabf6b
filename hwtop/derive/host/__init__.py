"""Rates of the machine and its GPUs."""
