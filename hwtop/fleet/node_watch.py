"""How one node does: from what its agent said, and when. Reads no clock."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop import __version__
from hwtop.fleet import wire
from hwtop.fleet.clock import Clock
from hwtop.job.log.text import visible
from hwtop.model.check import CheckResult
from hwtop.model.fleet import Node, NodeReport, NodeStatus
from hwtop.model.snapshot import Snapshot
from hwtop.store.possible import is_possible, is_possible_report

LATE_INTERVALS, LATE_S = 3.0, 3.0
"""A node is late without a report for so many intervals, and at least these seconds. Engineering default."""
LOST_INTERVALS, LOST_S = 10.0, 10.0
"""From here on it is lost, and no longer counts in comparisons. Engineering default."""
CONNECT_S = 60.0
"""To the first message: a queue for the authentication, a slow start of Python on a shared file system. Engineering default."""
_IMPOSSIBLE = "it reports times that cannot be"
_LONGEST_REASON = 300
_LONGEST_ID = 60
_LONGEST_INTERVAL_S = 60.0
"""That a node is believed to report at. Bounds how long it may be silent, whatever it says."""
_MOST_CHECKS = 1000
"""Of one node; what sends more is garbage."""
_MOST_SNAPSHOTS = 8
"""Snapshots that wait for the next reading."""


class NodeWatch:
    """Of one node; every time is on the monotonic clock of this machine."""

    def __init__(self, name: str, at_s: float) -> None:
        self.name = name
        self._began_s = at_s
        self._hello: wire.Hello | None = None
        self._report: NodeReport | None = None
        self._reported_s: float | None = None
        self._number = 0
        """Of the newest report of this agent."""
        self._skipped = 0
        self._offset_s: float | None = None
        self._clock = Clock()
        self._end: tuple[NodeStatus, str] | None = None
        self._snapshots: list[Snapshot] = []
        self._checks: tuple[CheckResult, ...] = ()

    @property
    def is_over(self) -> bool:
        """Its agent has ended, or never began."""
        return self._end is not None

    @property
    def has_answered(self) -> bool:
        """It is no longer connecting."""
        return self._hello is not None or self.is_over

    def again(self, at_s: float) -> None:
        """A new agent is started on it."""
        self._end, self._hello, self._number, self._began_s, self._checks = None, None, 0, at_s, ()

    def take(self, message: wire.Message, at_s: float, time_s: float) -> None:
        """What its agent said.

        Raises:
            ProtocolError: it speaks another protocol, or reports what cannot be.
        """
        if isinstance(message, wire.Hello):
            if message.protocol != wire.PROTOCOL:
                raise wire.ProtocolError(
                    f"its hwtop {visible(message.version)[:40]} speaks protocol {message.protocol}, "
                    f"hwtop {__version__} here {wire.PROTOCOL}: use the same version"
                )
            self._hello = message
        elif isinstance(message, wire.Report):
            self._take_report(message.report, at_s)
        elif isinstance(message, wire.Whole):
            if not is_possible(message.snapshot):
                raise wire.ProtocolError(_IMPOSSIBLE)
            self._snapshots = [*self._snapshots, message.snapshot][-_MOST_SNAPSHOTS:]
        elif isinstance(message, wire.Checks):
            self._checks, self._reported_s = tuple(map(_readable, message.results[:_MOST_CHECKS])), at_s
        elif isinstance(message, wire.Pong):
            self._clock.answered(at_s - message.sent_at_s, message.time_s, time_s)
        else:
            self.end("failed" if message.is_failure else "ended", message.reason)

    def _take_report(self, report: NodeReport, at_s: float) -> None:
        if not is_possible_report(report):
            raise wire.ProtocolError(_IMPOSSIBLE)
        self._skipped += max(0, report.number - self._number - 1)
        self._report, self._reported_s, self._number = report, at_s, report.number
        offset_s = at_s - report.at_s
        self._offset_s = offset_s if self._number == 0 or self._offset_s is None else min(self._offset_s, offset_s)

    def end(self, status: NodeStatus, reason: str) -> None:
        """It sends no more; the first reason holds."""
        self._end = self._end or (status, visible(" ".join(reason.split()))[:_LONGEST_REASON])

    def taken_snapshots(self) -> tuple[Snapshot, ...]:
        """Those that came since the last call."""
        snapshots, self._snapshots = self._snapshots, []
        return tuple(snapshots)

    def node(self, at_s: float) -> Node:
        """How it does now."""
        age_s = None if self._reported_s is None else at_s - self._reported_s
        status, reason = self._status(at_s, age_s)
        skew = self._clock.skew
        return Node(
            name=self.name,
            status=status,
            reason=reason,
            age_s=age_s,
            offset_s=self._offset_s,
            clock_skew_s=None if skew is None else skew[0],
            clock_error_s=None if skew is None else skew[1],
            clock_reason="it has not answered a question yet" if skew is None else None,
            version=None if self._hello is None else visible(self._hello.version)[:40],
            skipped=self._skipped,
            report=self._report,
            checks=self._checks,
        )

    def _status(self, at_s: float, age_s: float | None) -> tuple[NodeStatus, str | None]:
        if self._end is not None:
            return self._end
        if age_s is None or self._hello is None:
            if at_s - self._began_s > CONNECT_S:
                return "failed", f"no report in {CONNECT_S:.0f} s"
            return "connecting", None
        interval_s = _LONGEST_INTERVAL_S  # a check has a deadline, and no rhythm
        if self._report is not None:
            interval_s = min(self._report.interval_s, _LONGEST_INTERVAL_S)
        if age_s > max(LOST_S, LOST_INTERVALS * interval_s):
            return "lost", f"silent for {age_s:.0f} s"
        if age_s > max(LATE_S, LATE_INTERVALS * interval_s):
            return "late", f"no report for {age_s:.0f} s"
        return "reporting", None


def _readable(result: CheckResult) -> CheckResult:
    """As another machine words it: bounded, and without control characters."""
    remedy = None if result.remedy is None else visible(result.remedy)[:_LONGEST_REASON]
    return replace(
        result, id=visible(result.id)[:_LONGEST_ID], reason=visible(result.reason)[:_LONGEST_REASON], remedy=remedy
    )
