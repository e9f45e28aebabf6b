"""Voice: the lines of one rank in one file, and what they told so far."""

from __future__ import annotations

from itertools import pairwise

from hwtop.derive.logs.ticking import TickingLines
from hwtop.job.log.parsed import ParsedLine
from hwtop.job.log.time import reported_s
from hwtop.job.progress.tracker import Measured, ProgressTracker
from hwtop.model.rank import LostValue, PastPace
from hwtop.model.reported.log import Progress

KEPT_STREAMS = 4096
"""Pairs of file and rank that are told apart."""


class LogStream:
    """Takes in its lines one by one."""

    def __init__(self, path: str, rank: int | None) -> None:
        self.path = path
        self.rank = rank
        """None where neither line nor file tell whose it is."""
        self.last_line: str | None = None
        self.is_past = False
        """Its newest step was there before hwtop came."""
        self.past_steps = 0
        """Lines with a new step that the job wrote before hwtop came."""
        self.past_pace: PastPace | None = None
        self.news_at_s: float | None = None
        """When the newest line was read that shows progress; None where all of them do."""
        self.longest_gap_s: float | None = None
        """Between two lines with a step that were there before hwtop came, by the times that they begin with."""
        self._first_past_step: int | None = None
        """Counted as `run_step`."""
        self._written_s: float | None = None
        self._newest_news_s: float | None = None
        self._ticking = TickingLines()
        self._tracker = ProgressTracker()
        self._past_step_at_s: float | None = None
        """No step that was there when hwtop came is newer."""

    @property
    def key(self) -> tuple[str, int | None]:
        """What it is known by."""
        return (self.path, self.rank)

    @property
    def newest(self) -> Progress | None:
        """The newest value of each field."""
        return self._tracker.newest

    @property
    def run_step(self) -> int | None:
        """The newest step, counted over the whole run."""
        return self._tracker.run_step

    @property
    def measured(self) -> Measured | None:
        """A pace that was measured by the arrival of the newest line."""
        return self._tracker.measured

    @property
    def takes_times_back(self) -> bool:
        """The newest line has shown that the times before it were no times of steps."""
        return self._tracker.takes_times_back

    @property
    def lost_values(self) -> tuple[LostValue, ...]:
        """Values of its newest lines that are no numbers any more."""
        return self._tracker.lost.newest

    @property
    def step_time_s(self) -> float | None:
        """Median of the last steps."""
        return self._tracker.step_time_s

    @property
    def last_step_at_s(self) -> float | None:
        """When the newest step was told."""
        return self._tracker.last_step_at_s

    @property
    def log_interval_s(self) -> float | None:
        """Median gap between lines that told a new step; before any arrived live, as it is to be expected."""
        return self._tracker.log_interval_s or self._reported_interval_s()

    def take(self, line: ParsedLine) -> tuple[Progress | None, bool]:
        """What the line tells of the training, and whether that is a new step."""
        if any(map(str.isalnum, line.text)):  # a rule of ===== says nothing
            self.last_line = line.text
        before = self.newest.step if self.newest else None
        progress = self._tracker.add(line)
        is_step = progress is not None and progress.step is not None and progress.step != before
        self._see_news(line, is_step=is_step)
        if is_step:
            self.is_past = line.source.is_past
            if self.is_past:
                self._see_gap(reported_s(line.source.text))
        return progress, is_step

    def see_past(self, job_s: float | None, modified_s: float | None) -> None:
        """Its newest step was there before hwtop came. `job_s`: how old the job was when the file was last written to, at `modified_s`."""
        self.past_steps += 1
        self._past_step_at_s = modified_s
        self._first_past_step = self.run_step if self.past_steps == 1 else self._first_past_step
        steps = (self.run_step or 0) - (self._first_past_step or 0)
        if steps > 0 and job_s is not None:
            self.past_pace = PastPace(steps=steps, step_s=job_s / steps)

    def _see_gap(self, written_s: float | None) -> None:
        before_s, self._written_s = self._written_s, written_s
        if written_s is not None and before_s is not None and written_s >= before_s:
            self.longest_gap_s = max(self.longest_gap_s or 0.0, written_s - before_s)

    def _see_news(self, line: ParsedLine, *, is_step: bool) -> None:
        if is_step:
            self._ticking.step()
        is_news = is_step or not self._ticking.ticks(line.said)
        if is_news:
            self._newest_news_s, self.news_at_s = line.source.at_s, None
        elif self._newest_news_s is not None:
            self.news_at_s = self._newest_news_s

    def step_age_s(self, at_s: float) -> float | None:
        """How old its newest step is; of one that was there when hwtop came at least as old as the last write was then."""
        told_s = self._past_step_at_s if self.is_past else self.last_step_at_s
        return (
            None if told_s is None or self.last_step_at_s is None else max(0.0, at_s - min(told_s, self.last_step_at_s))
        )

    def _reported_interval_s(self) -> float | None:
        """Steps from line to line x step time."""
        steps = [sample.step for sample in self._tracker.series[-20:]]
        gaps = sorted(later - earlier for earlier, later in pairwise(steps) if later > earlier)
        if not gaps or self.step_time_s is None:
            return None
        return gaps[len(gaps) // 2] * self.step_time_s


class LogStreams:
    """All voices, found by file and rank."""

    def __init__(self) -> None:
        self._streams: dict[tuple[str, int | None], LogStream] = {}
        self._by_rank: dict[int | None, list[LogStream]] = {}

    def __len__(self) -> int:
        return len(self._streams)

    def of(self, path: str, rank: int | None) -> LogStream:
        """The one of this file and rank, made anew where there is none. Numbers that are too many are no ranks."""
        if (path, rank) not in self._streams and len(self._streams) >= KEPT_STREAMS:
            rank = None
        stream = self._streams.get((path, rank))
        if stream is None:
            stream = self._streams[(path, rank)] = LogStream(path, rank)
            self._by_rank.setdefault(rank, []).append(stream)
        return stream

    def of_rank(self, rank: int | None) -> list[LogStream]:
        """Those that are known to be this rank's; for None those that are nobody's."""
        return self._by_rank.get(rank, [])
