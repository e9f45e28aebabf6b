"""UNDERSTAND: what the raw readings of a job mean. Pure and stateless: no I/O, no clock.

Of its processes: `environment` (what environ tells), `launcher` (what one process is by itself), `root` (the top of the job
from any of its pids), `tree` (role and rank of each).
"""
