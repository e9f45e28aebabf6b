"""Real agents on this machine, as if it were several nodes."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hwtop.fleet.live import LiveFleet
from hwtop.model.fleet import FleetReading, Node

CHECKOUT = Path(__file__).parents[2]
PROGRAM = f"env PYTHONPATH={shlex.quote(str(CHECKOUT))} {shlex.quote(sys.executable)} -m hwtop"
"""This checkout's hwtop, wherever it is started."""
WAIT_S = 60.0


def until(readings: Iterator[FleetReading], is_so: Callable[[dict[str, Node]], bool]) -> dict[str, Node]:
    """The nodes by name, once it is so."""
    end_s = time.monotonic() + WAIT_S
    for reading in readings:
        nodes = {node.name: node for node in reading.nodes}
        if is_so(nodes):
            return nodes
        assert time.monotonic() < end_s, [(node.name, node.status, node.reason) for node in reading.nodes]
    raise AssertionError("the fleet has ended")


def all_report(nodes: dict[str, Node]) -> bool:
    """Every node does."""
    return all(node.status == "reporting" for node in nodes.values())


def watch_a_job(nodes: dict[str, Node]) -> bool:
    """Every node reports ranks of one."""
    jobs = [node.report.job for node in nodes.values() if node.report is not None]
    return all_report(nodes) and len(jobs) == len(nodes) and all(job is not None and job.ranks for job in jobs)


def pids_of(fleet: LiveFleet) -> dict[str, int]:
    """Node -> PID of what was started for it."""
    return {child.start.nodes[0]: child._process.pid for child in fleet._children}
