"""A job over several nodes, without a daemon or a port: `agent.py` runs on each node and writes to its standard output, `launchers/`
start it by what the site already runs (ssh, Slurm, Ray, Kubernetes), `live.py` reads them, `merge.py` makes one job of the reports
and `assemble.py` judges it with the rules of one machine.

    agent: Snapshot -> Frame -> NodeReport (`condense.py`) -> bytes (`wire.py`) -> launcher -> `live.py` -> FleetReading -> Frame
"""
