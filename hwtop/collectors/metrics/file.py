"""One metrics file: read as it grows, with bounded memory, however it is written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from hwtop.collectors.found_file import open_found, unreadable_for, untrusted
from hwtop.job.metrics.files import parser_for
from hwtop.job.metrics.parsed import MetricValue, Parser
from hwtop.model.curve import CurveName
from hwtop.model.reported.metrics import MetricsKind, MetricsPoint

PAST_BYTES = 1 << 20
"""What is read of a file that is there already: some 20,000 scalars of TensorBoard, in a quarter of a second."""
_BLOCK_BYTES = 1 << 16
_MOST_WHOLE_BYTES = 16 << 20
"""Of a file that is one document; a longer one is not read."""
_HEAD_BYTES = 64 * 1024
_FINGERPRINT_BYTES = 64
_MOST_BROKEN = 200
"""So many places that cannot be read, and none that can: it is something else."""
_LARGEST = 2**53
"""No step, and no time in seconds, is beyond what a floating point number holds exactly."""
_LONGEST_REASON = 200
_MOST_POINTS = 2000
_NEWEST_POINTS = 500


class Clock(NamedTuple):
    """The times of one reading."""

    now_s: float
    """Monotonic."""
    wall_s: float
    began_s: float
    """When hwtop first read it, seconds after the epoch."""
    is_first: bool
    """This is that time."""


class MetricsFileReader:
    """Follows one file. `read` may block for ever on a dead mount."""

    def __init__(
        self, path: str, access: str, kind: MetricsKind, uid: int | None = None, *, is_open: bool = False
    ) -> None:
        """`uid`: user of the job; `is_open`: a process of the job has it open, so that it is the job's whoever owns it."""
        self.path, self.access, self.kind = path, access, kind
        self.uid, self.is_open = uid, is_open
        self.size_bytes: int | None = None
        self.modified_s: float | None = None
        self.skipped_bytes = 0
        self.unit = ""
        self.has_times = True
        self.console: str | None = None
        self.reason: str | None = None
        self.is_behind = True
        """There is more to read."""
        self._parser: Parser = parser_for(path, kind)
        self._offset = 0
        self._version: tuple[int, int, int] | None = None
        self._past_bytes = 0
        """What was there at the first reading."""
        self._fingerprint = b""
        self._first: MetricValue | None = None
        self._known_step: int | None = None
        """Steps up to this one were reported before the file was rewritten."""
        self._last_step: int | None = None
        self._epoch: float | None = None
        self._is_none = False
        """It has the name of a metrics file, and is none."""
        self._chosen: dict[str, tuple[int, str]] = {}

    @property
    def broken(self) -> int:
        """Places that could not be read."""
        return self._parser.broken

    @property
    def total_steps(self) -> int | None:
        """Where the file reports it."""
        return self._parser.total_steps

    def read(self, clock: Clock, most_bytes: int) -> list[MetricsPoint]:
        """What is new since the last call. Raises OSError when it cannot be read."""
        fd = open_found(self.access, self.uid, unreadable_for if self.is_open else untrusted)
        try:
            status = os.fstat(fd)
            version = (status.st_ino, status.st_size, status.st_mtime_ns)
            self.size_bytes, self.modified_s = status.st_size, status.st_mtime
            if self._is_none or (version == self._version and not self.is_behind):
                return []
            if clock.is_first and self._version is None:
                self._past_bytes = status.st_size
            is_past = self._offset < self._past_bytes
            try:
                reported = self._whole(fd) if self._parser.is_whole else self._grown(fd, status, most_bytes)
            except (
                ValueError,
                ArithmeticError,
                LookupError,
                RuntimeError,
            ) as error:  # it may hold anything, nested how it likes
                self._is_none, self.is_behind = True, False
                self.reason = f"holds no valid metrics: {type(error).__name__}: {error}"[:_LONGEST_REASON]
                return []
            self._version = version
            if self._first is None and not reported and self.broken >= _MOST_BROKEN:
                self._is_none, self.is_behind, self.reason = True, False, "no metrics file: not read"
            return self._points(reported, clock, is_past)
        finally:
            os.close(fd)

    def _whole(self, fd: int) -> list[MetricValue]:
        self.is_behind, self._offset = False, self._past_bytes
        if (self.size_bytes or 0) > _MOST_WHOLE_BYTES:
            self.reason = f"larger than {_MOST_WHOLE_BYTES >> 20} MiB: not read"
            return []
        parts, at = [], 0
        while block := os.pread(fd, _MOST_WHOLE_BYTES - at, at):
            parts.append(block)
            at += len(block)
        self._known_step = self._last_step
        return self._parser.feed(b"".join(parts))

    def _grown(self, fd: int, status: os.stat_result, most_bytes: int) -> list[MetricValue]:
        head = os.pread(fd, _FINGERPRINT_BYTES, 0)
        is_other = self._version is not None and status.st_ino != self._version[0]
        if is_other or status.st_size < self._offset or not head.startswith(self._fingerprint):
            self._start_anew()
        self._fingerprint = head
        if self._offset == 0 and status.st_size > PAST_BYTES:
            self._enter_late(fd, status.st_size)
        reported: list[MetricValue] = []
        end = self._offset + most_bytes
        while self._offset < min(end, status.st_size):
            block = os.pread(fd, _BLOCK_BYTES, self._offset)
            if not block:
                break
            self._offset += len(block)
            reported += self._parser.feed(block)
            skip = self._parser.take_skip()
            self._offset, end = self._offset + skip, end + skip
        self.is_behind = self._offset < status.st_size
        return reported

    def _start_anew(self) -> None:
        """It was written again: Lightning does so for a new column, and so does a run that begins again."""
        self._parser = parser_for(self.path, self.kind)
        self._offset, self._fingerprint, self._known_step = 0, b"", self._last_step

    def _enter_late(self, fd: int, size: int) -> None:
        start = size - PAST_BYTES
        if self.kind == "csv":
            head = os.pread(fd, _HEAD_BYTES, 0)
            self._parser.feed(head[: head.find(b"\n") + 1])
        self._offset = self._parser.jump(start)
        self.skipped_bytes = self._offset

    def _points(self, reported: Sequence[MetricValue], clock: Clock, is_past: bool) -> list[MetricsPoint]:
        reported = self._new_ones([each for each in reported if _is_possible(each)])
        points = []
        for each in reported:
            name = each.meaning.name
            if name == "step" or name == "iteration":
                continue
            if name == "epoch":
                self._epoch = each.value
            elif self._is_chosen(each):
                points.append(self._point(each, name, clock, is_past))
            if each.step is not None:
                self._last_step = each.step
        return _thinned(points)

    def _new_ones(self, reported: Sequence[MetricValue]) -> Sequence[MetricValue]:
        if not reported:
            return reported
        is_same_run = self._first is None or _key(reported[0]) == _key(self._first) or self._parser.is_whole
        if self._first is None:
            self._first = reported[0]
        if self._known_step is None:
            return reported
        if not is_same_run and self._first is not None:
            self._first, self._known_step, self._last_step = reported[0], None, None
            return reported
        known = self._known_step
        new = [each for each in reported if each.step is None or each.step > known]
        if new:
            self._known_step = None if not self._parser.is_whole else known
        return new

    def _is_chosen(self, reported: MetricValue) -> bool:
        """Where several names mean the same, one counts: the most usual, else the first."""
        rank = (reported.meaning.preference, reported.tag)
        known = self._chosen.get(reported.meaning.name)
        if known is None or rank[0] < known[0]:
            self._chosen[reported.meaning.name] = rank
            return True
        return rank == known

    def _point(self, reported: MetricValue, name: CurveName, clock: Clock, is_past: bool) -> MetricsPoint:
        if name == "throughput":
            self.unit = reported.meaning.unit
        if reported.reported_s is None:
            self.has_times = False
            at_s = clock.now_s - max(0.0, clock.wall_s - (self.modified_s or clock.wall_s))
        else:
            at_s, is_past = clock.now_s - (clock.wall_s - reported.reported_s), reported.reported_s < clock.began_s
        return MetricsPoint(
            name=name,
            value=reported.value,
            at_s=at_s,
            step=reported.step,
            epoch=self._epoch if reported.epoch is None else reported.epoch,
            is_past=is_past,
        )


def _is_possible(reported: MetricValue) -> bool:
    return all(number is None or abs(number) < _LARGEST for number in (reported.step, reported.reported_s))


def _key(reported: MetricValue) -> tuple[str, int | None, float]:
    return reported.tag, reported.step, reported.value


def _thinned(points: list[MetricsPoint]) -> list[MetricsPoint]:
    """Of very many the newest, and of those before some at equal distances."""
    by_name: dict[str, list[MetricsPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    kept = []
    for row in by_name.values():
        if len(row) > _MOST_POINTS:
            old = row[:-_NEWEST_POINTS]
            stride = -(-len(old) // (_MOST_POINTS - _NEWEST_POINTS))
            row = [*old[::stride], *row[-_NEWEST_POINTS:]]
        kept += row
    return kept
