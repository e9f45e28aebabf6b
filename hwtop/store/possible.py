"""Which readings of a recording can be shown: the file may come from anybody. Pure."""

from __future__ import annotations

from hwtop.model.fleet import Node
from hwtop.model.snapshot import Snapshot
from hwtop.store.kind import Reading

_LATEST_S = 253_402_300_800.0
"""End of the year 9999, the last that Python can show."""
_MOST_NODES = 10_000
"""As many as a fleet can be started with (`hwtop.fleet.hosts`)."""


def is_date(time_s: float) -> bool:
    """Whether a calendar has it: seconds after the epoch."""
    return 0 <= time_s < _LATEST_S


def is_possible(reading: Reading) -> bool:
    """Whether all its times are dates, and it has as many nodes as a fleet can have."""
    if isinstance(reading, Snapshot):
        return _is_moment(reading.time_s, reading.at_s)
    return (
        _is_moment(reading.time_s, reading.at_s)
        and 1 <= len(reading.nodes) <= _MOST_NODES
        and all(map(_is_possible_node, reading.nodes))
        and all(map(is_possible, reading.snapshots))
    )


def _is_possible_node(node: Node) -> bool:
    return node.report is None or is_date(node.report.time_s)


def _is_moment(time_s: float, at_s: float) -> bool:
    return is_date(time_s) and abs(at_s) < _LATEST_S
