"""The job's logs over time: whose line it is, what it tells of the training, which patterns it matched."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from hwtop.derive.curves import CurveBook
from hwtop.derive.log_surroundings import Surroundings
from hwtop.job.log.attempt import attempt_of, is_earlier, superseded
from hwtop.job.log.text import rank_of_path, split_rank
from hwtop.job.patterns.match import Matcher
from hwtop.job.patterns.registry import Registry
from hwtop.job.progress.told import ProgressTracker
from hwtop.model.curve import Curve
from hwtop.model.log import LogEvent, LogFile, LogLine, LogReading, Progress

_KEPT_LINES = 500
_KEPT_EVENTS = 500
_MOST_VOICES = 4096
"""Pairs of file and rank that are told apart."""
_OVERCOME_STEPS = 3
"""A past error that the same file follows up with this many steps did not end that run: it is history."""


class RankLog(Struct, frozen=True, kw_only=True):
    """What the logs say of one rank."""

    path: str | None = None
    age_s: float | None = None
    last_line: str | None = None
    progress: Progress | None = None
    step_time_s: float | None = None
    step_age_s: float | None = None
    step_told_at_s: float | None = None
    log_interval_s: float | None = None


@dataclass
class _Told:
    """An event, and how many steps of the same file came after it."""

    event: LogEvent
    steps_after: int = 0


class LogBook:
    """Takes in every LogReading, and answers for each rank. `ranks_of` maps a path to the ranks that write to it."""

    def __init__(self, patterns: Registry | None = None) -> None:
        self._matcher = Matcher(patterns)
        self._trackers: dict[tuple[str, int | None], ProgressTracker] = {}
        self._past_steps: dict[tuple[str, int | None], bool] = {}
        self._last_line: dict[tuple[str, int | None], str] = {}
        self._read_at_s = 0.0
        self._lines: deque[LogLine] = deque(maxlen=_KEPT_LINES)
        self._curves = CurveBook()
        self._surroundings = Surroundings()
        self._told: deque[_Told] = deque(maxlen=_KEPT_EVENTS)
        self.files: tuple[LogFile, ...] = ()
        self.exit_codes: dict[int, int] = {}
        """PID -> exit code, where a launcher's log tells it; negative = signal."""

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """The newest lines of all files, oldest first."""
        return tuple(self._lines)

    @property
    def events(self) -> tuple[LogEvent, ...]:
        """What the patterns found, oldest first."""
        return tuple(told.event for told in self._told)

    @property
    def flagged_lines(self) -> tuple[LogLine, ...]:
        """Lines that matched, with those around them."""
        return self._surroundings.lines

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What the logs tell over the steps of the training."""
        return self._curves.curves

    def advance(self, reading: LogReading, ranks_of: Mapping[str, Sequence[int]], rank_of: Mapping[int, int]) -> None:
        """Take in the lines of one reading. `rank_of` maps the PIDs of ranks to their numbers."""
        self.files = reading.files
        self._read_at_s = reading.at_s
        self._lines.extend(reading.lines)
        events = self._matcher.match(reading.lines)
        self._surroundings.advance(reading.lines, events)
        for event in events:
            self._told.append(_Told(replace(event, rank=self._blamed(event, ranks_of, rank_of))))
        earlier = superseded(file.path for file in reading.files)
        for line in reading.lines:
            if line.path not in earlier:
                self._take(line, ranks_of)

    def of_rank(self, rank: int, ranks_of: Mapping[str, Sequence[int]], at_s: float) -> RankLog:
        """What is known of this rank at `at_s`."""
        paths = [path for path, ranks in ranks_of.items() if rank in ranks]
        keys = [
            key
            for key in self._trackers
            if key[1] == rank or (key[1] is None and self._speaks_for(key[0], rank, ranks_of))
        ]
        paths += [path for path, _ in keys if path not in paths]
        files = [file for file in self.files if file.path in paths]
        ages = [file.age_s for file in files if file.age_s is not None]
        told = [key for key in keys if self._trackers[key].last_step_at_s is not None]
        best = max(told, key=lambda key: self._trackers[key].last_step_at_s or 0.0, default=None)
        age_s = min(ages) + max(0.0, at_s - self._read_at_s) if ages else None
        spoken = [self._last_line[key] for key in (best, *keys) if key in self._last_line]
        common = RankLog(
            path=best[0] if best else next(iter(paths), None), age_s=age_s, last_line=next(iter(spoken), None)
        )
        if best is None:
            progress = next((self._trackers[key].newest for key in keys if self._trackers[key].newest), None)
            return replace(common, progress=progress)
        tracker = self._trackers[best]
        return replace(
            common,
            progress=tracker.newest,
            step_time_s=tracker.step_time_s,
            step_age_s=self._step_age_s(best, tracker, at_s, age_s),
            step_told_at_s=None if self._past_steps.get(best) else tracker.last_step_at_s,
            log_interval_s=tracker.log_interval_s or _told_interval_s(tracker),
        )

    def _blamed(self, event: LogEvent, ranks_of: Mapping[str, Sequence[int]], rank_of: Mapping[int, int]) -> int | None:
        """The rank that the line is about: it says so, names its PID, or stands in that rank's log."""
        pid = event.groups.get("pid") or event.groups.get("exit_pid")
        code = event.groups.get("exitcode") or event.groups.get("exit")
        if pid and code:
            self.exit_codes[int(pid)] = int(code)
        if event.rank is not None:
            return event.rank
        if pid and int(pid) in rank_of:
            return rank_of[int(pid)]
        return self._owner(event.path, event.text, ranks_of)

    def _take(self, line: LogLine, ranks_of: Mapping[str, Sequence[int]]) -> None:
        key = (line.path, self._owner(line.path, line.text, ranks_of))
        if key not in self._trackers and len(self._trackers) >= _MOST_VOICES:
            key = (line.path, None)  # numbers before a colon that are no ranks
        if any(map(str.isalnum, line.text)):  # a rule of ===== says nothing
            self._last_line[key] = line.text
        tracker = self._trackers.setdefault(key, ProgressTracker())
        before = tracker.newest.step if tracker.newest else None
        progress = tracker.add(line)
        if progress is not None:
            step = tracker.run_step if tracker.run_step is not None else self._step_elsewhere(key[1])
            self._curves.take(key, progress, step, line.at_s, line.is_past)
            if (measured := tracker.measured_step) is not None:
                self._curves.take_step_time(key, measured)
        if progress is None or progress.step is None or progress.step == before:
            return
        self._past_steps[key] = line.is_past
        if line.is_past or attempt_of(line.path) is not None:
            self._overcome(line)

    def _step_elsewhere(self, rank: int | None) -> int | None:
        """The newest step that the rank told in another file: bars go to its stderr, losses to its stdout."""
        others = [tracker for (_, teller), tracker in self._trackers.items() if teller == rank and rank is not None]
        newest = max(others, key=lambda tracker: tracker.last_step_at_s or 0.0, default=None)
        return None if newest is None else newest.run_step

    def _overcome(self, line: LogLine) -> None:
        """Count the steps after each past event of the file; drop those that the run has survived."""
        for told in self._told:
            if told.event.is_past and _is_before(told.event, line):
                told.steps_after += 1
        survived = (told for told in self._told if told.steps_after < _OVERCOME_STEPS)
        self._told = deque(survived, maxlen=_KEPT_EVENTS)

    def _owner(self, path: str, text: str, ranks_of: Mapping[str, Sequence[int]]) -> int | None:
        rank, _ = split_rank(text)
        if rank is not None:
            return rank
        ranks = ranks_of.get(path, ())
        if len(ranks) == 1:
            return ranks[0]
        return rank_of_path(path)

    def _speaks_for(self, path: str, rank: int, ranks_of: Mapping[str, Sequence[int]]) -> bool:
        """Lines without a rank in a file that several ranks share (or that --logs named) are taken for the lowest one's."""
        ranks = ranks_of.get(path, ())
        everyone = ranks or [number for numbers in ranks_of.values() for number in numbers] or [0]
        return rank == min(everyone)

    def _step_age_s(
        self, key: tuple[str, int | None], tracker: ProgressTracker, at_s: float, file_age_s: float | None
    ) -> float | None:
        if tracker.last_step_at_s is None:
            return None
        if self._past_steps.get(key):
            return file_age_s  # it was there before we came: no younger than the last write
        return max(0.0, at_s - tracker.last_step_at_s)


def _is_before(event: LogEvent, line: LogLine) -> bool:
    if event.path != line.path:
        return is_earlier(event.path, line.path)
    if not line.is_past:
        return False
    if event.line_no is None or line.line_no is None:
        return True
    return event.line_no < line.line_no


def _told_interval_s(tracker: ProgressTracker) -> float | None:
    """Expected time between two progress lines where none has arrived live: steps from line to line x step time."""
    steps = [sample.step for sample in tracker.series[-20:]]
    gaps = sorted(later - earlier for earlier, later in pairwise(steps) if later > earlier)
    if not gaps or tracker.step_time_s is None:
        return None
    return gaps[len(gaps) // 2] * tracker.step_time_s
