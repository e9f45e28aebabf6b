"""Processes: those of the job in full, all others as far as the list of jobs needs."""
