"""Which readings can be shown: a recording may come from anybody, and a report from a node that is not trusted. Pure."""

from __future__ import annotations

from hwtop.model.fleet import Node, NodeReport
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
    """Whether all its times can be, and it has as many nodes as a fleet can have."""
    if not (is_date(reading.time_s) and _are_spans(reading.at_s, reading.interval_s)):
        return False
    if isinstance(reading, Snapshot):
        return True
    has_nodes = 1 <= len(reading.nodes) <= _MOST_NODES and all(map(_is_possible_node, reading.nodes))
    return has_nodes and all(map(is_possible, reading.snapshots))


def is_possible_report(report: NodeReport) -> bool:
    """Whether all its times can be."""
    return is_date(report.time_s) and _are_spans(report.at_s, report.interval_s, report.watched_s)


def _is_possible_node(node: Node) -> bool:
    are_spans = _are_spans(node.age_s, node.offset_s, node.clock_skew_s, node.clock_error_s)
    return are_spans and (node.report is None or is_possible_report(node.report))


def _are_spans(*seconds: float | None) -> bool:
    """Numbers, and no longer than the calendar."""
    return all(each is None or abs(each) < _LATEST_S for each in seconds)
