"""What many samples of one process say together: shares of phases, hot lines, how long it has not moved. Pure.

Samples come from dumps, which tell whether the thread was on a CPU or asleep, and from profiles, which do not but are many
more. Where sleeping decides whether a rank waits (in backward, optimizer and sync) the share of sleep seen in the dumps of
that phase is taken for all samples of it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.flame import flame_roots
from hwtop.job.stacks.frames import short_name, training_thread
from hwtop.job.stacks.growth import grown_shares
from hwtop.job.stacks.hot_lines import hot_lines
from hwtop.job.stacks.in_time import LOOK_EVERY_S, LOOKS, held
from hwtop.job.stacks.series import WINDOW_S, Sample, Series, StackState
from hwtop.job.stacks.sleep import Sleep, Sleepers
from hwtop.model.evidence import LEVEL_VALUES, MOSTLY
from hwtop.model.flame import FlameNode
from hwtop.model.rank import Held
from hwtop.model.rank_stack import GrownShare, HotLine, HotSpot, Phase, PhaseInterval, PhaseShare
from hwtop.model.stack import StackDump, StackFrame, StackProfile, StackReading

EXPLAINS = 0.3
"""Of the samples, proven: what takes so much of them explains why steps are slow or a GPU is idle. Engineering default."""
_NEWS = 0.05
"""Of the window: so much of it must be new before what takes most of the time is worked out again. Engineering default."""
_SHOWN_HOT_SPOTS = 5
_KEPT_HALTS = 16
_SURE_S = 0.5
"""A sample so soon after a thread was first read as asleep may be from before: reading all processes takes time.
Engineering default."""


class Shares(Struct, frozen=True, kw_only=True):
    """What a process did in the newest minute."""

    phases: tuple[PhaseShare, ...] = ()
    """Largest first."""
    samples: int = 0
    wait: float | None = None
    """Share of the samples that wait for others; None without samples."""
    barrier: float = 0.0
    """Share of the samples at a barrier that `wait` leaves out."""
    wait_samples: int = 0
    """How many samples `wait` is worth: all of them where the stacks tell it, down to the number of dumps where only the
    thread's state does."""


class StackSamples:
    """The samples of the newest 60 s of every process that was looked at. Looks that failed count as nothing."""

    def __init__(self) -> None:
        self._series: dict[int, Series] = {}
        self.sleepers = Sleepers()
        """To be shown every process reading: what the newest look showed of a thread holds until it is woken."""
        self._halts: deque[tuple[float, float]] = deque(maxlen=_KEPT_HALTS)

    def add(self, dump: StackDump, *, has_device: bool = False) -> None:
        """Take in one dump; of one process looks come in order of time. `has_device`: as in `phase_and_frame`."""
        thread = training_thread(dump)
        if thread is None or not thread.frames:
            return
        series = self._series.setdefault(dump.pid, Series(self._halts))
        said = classified(thread.frames, has_device)
        series.add(Sample(dump.at_s, said, thread.is_active))
        series.stack_state = StackState(dump=dump, thread=thread, classified=series.samples[-1].classified)

    def add_profile(self, profile: StackProfile, *, has_device: bool = False) -> None:
        """Take in a window of samples."""
        for sample in profile.samples:
            series = self._series.setdefault(profile.pid, Series(self._halts))
            series.add(Sample(sample.at_s, classified(sample.frames, has_device), None))

    def take(self, reading: StackReading, on_device: Container[int] = ()) -> None:
        """Take in all of a reading; `on_device`: the processes that compute on an accelerator."""
        looks: list[StackProfile | StackDump] = [*reading.profiles, *reading.dumps]
        for look in sorted(looks, key=_ended_s):
            if isinstance(look, StackProfile):
                self.add_profile(look, has_device=look.pid in on_device)
            else:
                self.add(look, has_device=look.pid in on_device)

    def leave_out(self, from_s: float, to_s: float) -> None:
        """The job could not go on between these times (a rank was stopped): what its ranks did says nothing of how they train."""
        self._halts.append((from_s, to_s))

    def forget(self, pid: int) -> None:
        """Drop a process that has ended."""
        self._series.pop(pid, None)

    def trains(self, pid: int) -> None:
        """Its log or a metrics file tells steps: its start is over, also where no sample was in forward, backward, optimizer or loader."""
        if pid in self._series:
            self._series[pid].begin()

    def learns(self, pid: int) -> bool:
        """A sample of it was in what nothing but a training does: the backward pass, the optimizer."""
        series = self._series.get(pid)
        return series is not None and any(sample.phase in ("backward", "optimizer") for sample in series.samples)

    def shares(self, pid: int, now: float) -> Shares:
        """Phases and waits of the minute that ends now."""
        series = self._series.get(pid)
        return Shares() if series is None else series.answer("shares", now, _shares)

    def hot(self, pid: int) -> tuple[HotSpot, ...]:
        """The user functions that most samples were in, with their commonest line; samples that wait are left out.

        `share` is of all samples of the window that ends with the newest one.
        """
        series = self._series.get(pid)
        return () if series is None else series.answer("hot", series.seen_s, _hot, _NEWS)

    def lines(self, pid: int, now: float) -> tuple[HotLine, ...]:
        """The user lines that most samples were at, waits included."""
        series = self._series.get(pid)
        return () if series is None else series.answer("lines", now, _lines, _NEWS)

    def grown(self, pid: int, now: float) -> tuple[GrownShare, ...]:
        """What takes more of its time than at the start of the minute that ends now."""
        series = self._series.get(pid)
        return () if series is None else series.answer("grown", now, _grown, _NEWS)

    def flame(self, pid: int, now: float) -> tuple[FlameNode, ...]:
        """The samples of the minute that ends now as a tree."""
        series = self._series.get(pid)
        return () if series is None else series.answer("flame", now, _flame)

    def covered_s(self, pid: int, now: float) -> float:
        """From the first to the last sample of the minute that ends now."""
        series = self._series.get(pid)
        samples = [] if series is None else series.window(now)
        return samples[-1].at_s - samples[0].at_s if samples else 0.0

    def held(self, pid: int, now: float) -> Held | None:
        """What stayed on its stack over the newest looks of the minute that ends now."""
        series = self._series.get(pid)
        return None if series is None else series.answer("held", now, _held)

    def intervals(self, pid: int) -> tuple[PhaseInterval, ...]:
        """When it saved or compiled."""
        series = self._series.get(pid)
        return () if series is None else series.intervals.all()

    def same_stack_for_s(self, pid: int, now: float) -> float | None:
        """How long every look has shown the same main-thread stack; counted to the newest look, not to `now`, unless the
        thread has not been woken since.

        None before two looks (one, of a thread that sleeps), and when the newest one is older than the window: what is not
        looked at is not known.
        """
        series, sleep, known_to_s = self._series.get(pid), self.sleep(pid), self.known_to_s(pid)
        if series is None or now - known_to_s > WINDOW_S or (series.looks < 2 and sleep is None):
            return None
        return known_to_s - (series.same_since_s if sleep is None else min(series.same_since_s, sleep.since_s))

    def same_function_for_s(self, pid: int, now: float) -> float | None:
        """How long every look has shown the same functions of the user; as `same_stack_for_s`, which is never longer."""
        series, same_stack_s = self._series.get(pid), self.same_stack_for_s(pid, now)
        if series is None or same_stack_s is None:
            return None
        return max(same_stack_s, self.known_to_s(pid) - series.same_function_since_s)

    def phase_for_s(self, pid: int) -> float | None:
        """For which every look up to the newest has shown the same phase; None before the first."""
        series = self._series.get(pid)
        return None if series is None else self.known_to_s(pid) - series.phase_since_s

    def sleep(self, pid: int) -> Sleep | None:
        """That of its thread that trains, where the newest look fell into it; None: it was awake, or nobody knows."""
        series, sleep = self._series.get(pid), self.sleepers.of(pid)
        stack_state = None if series is None else series.stack_state
        if series is None or sleep is None or stack_state is None or stack_state.thread.os_thread_id != pid:
            return None
        sure_from_s = sleep.since_s + _SURE_S
        is_newest = stack_state.dump.at_s >= series.seen_s
        is_contradicted = series.elsewhere_s >= sure_from_s  # by a look into the same sleep: a torn stack
        return sleep if is_newest and stack_state.dump.at_s >= sure_from_s and not is_contradicted else None

    def known_to_s(self, pid: int) -> float:
        """Until when what the newest look showed is known to hold; -inf before the first."""
        series, sleep = self._series.get(pid), self.sleep(pid)
        seen_s = float("-inf") if series is None else series.seen_s
        return seen_s if sleep is None else max(seen_s, sleep.seen_s)

    def stack_state(self, pid: int) -> StackState | None:
        """Where the newest dump that succeeded showed it."""
        series = self._series.get(pid)
        return None if series is None else series.stack_state

    def newest(self, pid: int) -> StackDump | None:
        """The newest dump that succeeded."""
        stack_state = self.stack_state(pid)
        return None if stack_state is None else stack_state.dump


def _shares(samples: Sequence[Sample]) -> Shares:
    count = len(samples)
    if count == 0:
        return Shares()
    phases = Counter(sample.phase for sample in samples)
    asleep, at_barrier = _asleep(samples), [sample.classified.is_at_barrier for sample in samples]
    counts_barriers = _is_mostly(at_barrier)
    needing = sum(sample.classified.needs_state for sample in samples) / count
    dumps = sum(sample.is_active is not None for sample in samples)
    return Shares(
        phases=tuple(PhaseShare(phase=phase, share=found / count) for phase, found in phases.most_common()),
        samples=count,
        wait=sum(sample.waits(asleep, counts_barriers=counts_barriers) for sample in samples) / count,
        barrier=0.0 if counts_barriers else sum(at_barrier) / count,
        wait_samples=int(1 / ((1 - needing) / count + needing / max(1, dumps)) + 1e-9),
    )


def _is_mostly(at_barrier: Sequence[bool]) -> bool:
    """It comes to a barrier again and again, and spends more time there than elsewhere: no exception that somebody planned."""
    arrivals = sum(now and not before for before, now in pairwise(at_barrier))
    return arrivals >= LEVEL_VALUES and sum(at_barrier) > MOSTLY * len(at_barrier)


def _asleep(samples: Sequence[Sample]) -> dict[Phase, float]:
    """Of each phase the share of its dumps in which the thread slept, where that decides whether it waits."""
    active: dict[Phase, list[bool]] = {}
    for sample in samples:
        if sample.is_active is not None and sample.classified.needs_state:
            active.setdefault(sample.phase, []).append(sample.is_active)
    return {phase: 1 - sum(found) / len(found) for phase, found in active.items()}


def _hot(samples: Sequence[Sample]) -> tuple[HotSpot, ...]:
    lines: dict[tuple[str, str, str], Counter[int]] = {}
    for user in _working(samples):
        lines.setdefault((short_name(user.name), user.short_filename, user.filename), Counter())[user.line] += 1
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
    return tuple(sorted(spots, key=lambda spot: -spot.samples)[:_SHOWN_HOT_SPOTS])


def _working(samples: Sequence[Sample]) -> Iterator[StackFrame]:
    """User frames of the samples that wait neither for others nor for data."""
    asleep = _asleep(samples)
    for sample in samples:
        user = sample.classified.user
        if user is not None and sample.phase != "data" and sample.waits(asleep) < MOSTLY:
            yield user


def _lines(samples: Sequence[Sample]) -> tuple[HotLine, ...]:
    return hot_lines((sample.phase, sample.classified.user) for sample in samples)


def _grown(samples: Sequence[Sample]) -> tuple[GrownShare, ...]:
    return grown_shares([(sample.at_s, sample.classified.user) for sample in samples])


def _flame(samples: Sequence[Sample]) -> tuple[FlameNode, ...]:
    return flame_roots(Counter(sample.classified.own for sample in samples))


def _held(samples: Sequence[Sample]) -> Held | None:
    looks: list[tuple[float, tuple[StackFrame, ...]]] = []
    for sample in reversed(samples):
        if len(looks) == LOOKS:
            break
        if not looks or looks[-1][0] - sample.at_s >= LOOK_EVERY_S:
            looks.append((sample.at_s, sample.classified.path))
    return held(looks[::-1])


def _ended_s(look: StackProfile | StackDump) -> float:
    return look.to_s if isinstance(look, StackProfile) else look.at_s
