"""Python stacks of the job's processes: py-spy, torch's debug server, faulthandler. `source.py` decides when to sample."""
