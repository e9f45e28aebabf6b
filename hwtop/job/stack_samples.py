"""What many dumps of one process say together: shares of phases, hot lines, how long it has not moved. Pure."""

from __future__ import annotations

from collections import Counter, deque

from msgspec import Struct

from hwtop.job.frames import normalise, own_frames, short_name, training_thread, user_frame
from hwtop.job.hot_lines import hot_lines
from hwtop.job.phase import is_waiting, phase_and_frame
from hwtop.job.spells import Spells
from hwtop.model.job import HotLine, HotSpot, Phase, PhaseShare, Spell
from hwtop.model.stack import StackDump, StackFrame

WINDOW_S = 60.0
_MOST_SAMPLES = 240
"""A process is kept with at most so many samples: 4 Hz over the window."""
_HOT_SPOTS = 5
_BEFORE_TRAINING: frozenset[Phase] = frozenset({"startup", "rendezvous"})
_BARRIERS = frozenset({"barrier", "monitored_barrier", "wait_for_everyone"})
"""Ranks that wait here let another one do something alone (evaluate, save): no sign that it is slow at its share."""
_OF_TRAINING: frozenset[Phase] = frozenset({"forward", "backward", "optimizer", "data", "data-main"})
"""Once a process was seen in one of these, what it did while it started no longer counts in its shares."""


class _Sample(Struct, frozen=True):
    at_s: float
    phase: Phase
    waits: bool
    user: StackFrame | None


class _Series:
    """The samples of one process."""

    def __init__(self) -> None:
        self.samples: deque[_Sample] = deque(maxlen=_MOST_SAMPLES)
        self.newest: StackDump | None = None
        self.dumps = 0
        self.key: tuple[StackFrame, ...] = ()
        self.same_since_s = 0.0
        self.seen_s = 0.0
        self.started_until_s = float("-inf")
        self.has_trained = False
        self.spells = Spells()


class StackSamples:
    """The samples of the newest 60 s of every process that was dumped. Dumps that failed count as nothing."""

    def __init__(self) -> None:
        self._series: dict[int, _Series] = {}

    def add(self, dump: StackDump, *, has_device: bool = False) -> None:
        """Take in one dump; of one process they come in order of time. `has_device`: as in `phase_and_frame`."""
        thread = training_thread(dump)
        if thread is None or not thread.frames:
            return
        series = self._series.setdefault(dump.pid, _Series())
        key = normalise(thread)
        if series.dumps == 0 or key != series.key:
            series.key, series.same_since_s = key, dump.at_s
        series.dumps += 1
        series.seen_s = dump.at_s
        series.newest = dump
        phase, told_by = phase_and_frame(thread, has_device=has_device)
        at_barrier = told_by is not None and short_name(told_by.name) in _BARRIERS
        series.has_trained = series.has_trained or phase in _OF_TRAINING
        if phase in _BEFORE_TRAINING and not series.has_trained:
            series.started_until_s = dump.at_s
        series.spells.add(dump.at_s, phase)
        user = user_frame(own_frames(thread))
        series.samples.append(_Sample(dump.at_s, phase, is_waiting(thread, phase) and not at_barrier, user))

    def forget(self, pid: int) -> None:
        """Drop a process that has ended."""
        self._series.pop(pid, None)

    def shares(self, pid: int, now: float) -> tuple[tuple[PhaseShare, ...], float | None, int]:
        """(share of each phase, largest first; share that waits, None without samples; number of samples)."""
        samples = self._window(pid, now)
        if not samples:
            return (), None, 0
        count = len(samples)
        phases = Counter(sample.phase for sample in samples)
        shares = tuple(PhaseShare(phase=phase, share=found / count) for phase, found in phases.most_common())
        return shares, sum(sample.waits for sample in samples) / count, count

    def hot(self, pid: int) -> tuple[HotSpot, ...]:
        """The user functions that most samples were in, with their commonest line; samples that wait are left out.

        `share` is of all samples of the window that ends with the newest one.
        """
        series = self._series.get(pid)
        if series is None:
            return ()
        samples = self._window(pid, series.seen_s)
        lines: dict[tuple[str, str, str], Counter[int]] = {}
        for sample in samples:
            user = sample.user
            if user is not None and not sample.waits and sample.phase != "data":
                place = (short_name(user.name), user.short_filename, user.filename)
                lines.setdefault(place, Counter())[user.line] += 1
        spots = [
            HotSpot(
                function=function,
                file=file,
                line=counts.most_common(1)[0][0],
                share=counts.total() / len(samples),
                samples=counts.total(),
            )
            for (function, file, _), counts in lines.items()
        ]
        return tuple(sorted(spots, key=lambda spot: -spot.samples)[:_HOT_SPOTS])

    def lines(self, pid: int, now: float) -> tuple[HotLine, ...]:
        """The user lines that most samples were at, waits included."""
        return hot_lines((sample.phase, sample.user) for sample in self._window(pid, now))

    def spells(self, pid: int) -> tuple[Spell, ...]:
        """When it saved or compiled."""
        series = self._series.get(pid)
        return () if series is None else series.spells.all()

    def same_stack_for_s(self, pid: int, now: float) -> float | None:
        """How long every dump has shown the same main-thread stack; counted to the newest dump, not to `now`.

        None before two dumps, and when the newest one is older than the window: what is not looked at is not known.
        """
        series = self._series.get(pid)
        if series is None or series.dumps < 2 or now - series.seen_s > WINDOW_S:
            return None
        return series.seen_s - series.same_since_s

    def newest(self, pid: int) -> StackDump | None:
        """The newest dump that succeeded."""
        series = self._series.get(pid)
        return None if series is None else series.newest

    def _window(self, pid: int, now: float) -> list[_Sample]:
        series = self._series.get(pid)
        if series is None:
            return []
        since_s = now - WINDOW_S
        if series.has_trained:
            return [each for each in series.samples if each.at_s >= since_s and each.at_s > series.started_until_s]
        return [each for each in series.samples if each.at_s >= since_s]
