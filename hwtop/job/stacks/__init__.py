"""Stacks: frames -> phase, hot lines, groups of ranks. Pure."""
