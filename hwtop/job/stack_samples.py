"""What many samples of one process say together: shares of phases, hot lines, how long it has not moved. Pure.

Samples come from dumps, which tell whether the thread was on a CPU or asleep, and from profiles, which do not but are many
more. Where sleeping decides whether a rank waits (in backward, optimizer and sync) the share of sleep seen in the dumps of
that phase is taken for all samples of it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from hwtop.job.flame import flame_roots
from hwtop.job.frames import short_name, training_thread
from hwtop.job.hot_lines import hot_lines
from hwtop.job.spells import Spells
from hwtop.job.stack_meaning import Meaning, meaning
from hwtop.job.stack_time import LOOK_EVERY_S, LOOKS, held
from hwtop.model.flame import FlameNode
from hwtop.model.rank import Held, HotLine, HotSpot, Phase, PhaseShare, Spell
from hwtop.model.stack import StackDump, StackFrame, StackProfile, StackReading, ThreadStack

WINDOW_S = 60.0
_GAP_S = 30.0
"""A longer time without a look ends a phase: nobody knows what was in between."""
_MOST_SAMPLES = 400
"""A process is kept with at most so many samples: 5 Hz over the window, and as many dumps again."""
_HOT_SPOTS = 5
_MOSTLY = 0.5
_BEFORE_TRAINING: frozenset[Phase] = frozenset({"startup", "rendezvous"})
_OF_TRAINING: frozenset[Phase] = frozenset({"forward", "backward", "optimizer", "data", "data-main"})
"""Once a process was seen in one of these, what it did while it started no longer counts in its shares."""
T = TypeVar("T")


class Shares(Struct, frozen=True, kw_only=True):
    """What a process did in the newest minute."""

    phases: tuple[PhaseShare, ...] = ()
    """Largest first."""
    samples: int = 0
    wait: float | None = None
    """Share of the samples that wait for others; None without samples."""
    wait_samples: int = 0
    """How many samples `wait` is worth: all of them where the stacks tell it, down to the number of dumps where only the
    thread's state does."""


class Standing(Struct, frozen=True, kw_only=True):
    """The newest look that showed a process with all its threads."""

    dump: StackDump
    thread: ThreadStack
    """The one that trains."""
    meaning: Meaning

    @property
    def is_waiting(self) -> bool:
        """It waited for others or for the device."""
        return self.meaning.waits(self.thread.is_active)


class _Sample(Struct, frozen=True):
    at_s: float
    meaning: Meaning
    is_active: bool | None
    """None: a profile does not tell."""

    @property
    def phase(self) -> Phase:
        return self.meaning.phase

    def waits(self, asleep: dict[Phase, float]) -> float:
        """Probability that it waits for a slower rank; `asleep`: share of sleep by phase."""
        if self.meaning.is_at_barrier:
            return 0.0
        if self.is_active is not None or not self.meaning.needs_state:
            return float(self.meaning.waits(bool(self.is_active)))
        return asleep.get(self.phase, 0.0)


class _Series:
    """The samples of one process."""

    def __init__(self) -> None:
        self.samples: deque[_Sample] = deque(maxlen=_MOST_SAMPLES)
        self.standing: Standing | None = None
        self.looks = 0
        self.place: tuple[tuple[str, str, int], ...] = ()
        self.same_since_s = 0.0
        self.phase: Phase | None = None
        self.phase_since_s = 0.0
        self.seen_s = 0.0
        self.started_until_s = float("-inf")
        self.has_trained = False
        self.spells = Spells()
        self.known: dict[str, tuple[tuple[int, int], object]] = {}
        """Answers, with the (number of looks, length of the window) that they hold for."""

    def add(self, sample: _Sample) -> None:
        said = sample.meaning
        if self.looks == 0 or said.place != self.place:
            self.place, self.same_since_s = said.place, sample.at_s
        if said.phase != self.phase or sample.at_s - self.seen_s > _GAP_S:
            self.phase, self.phase_since_s = said.phase, sample.at_s
        self.looks += 1
        self.seen_s = sample.at_s
        self.has_trained = self.has_trained or said.phase in _OF_TRAINING
        if said.phase in _BEFORE_TRAINING and not self.has_trained:
            self.started_until_s = sample.at_s
        if self.has_trained:  # what a start loads and compiles interrupts nothing
            self.spells.add(sample.at_s, said.phase)
        self.samples.append(sample)

    def window(self, now: float) -> list[_Sample]:
        """Those of the newest minute, without those of start-up once it has trained."""
        since_s = now - WINDOW_S
        after_s = self.started_until_s if self.has_trained else float("-inf")
        return [each for each in self.samples if each.at_s >= since_s and each.at_s > after_s]

    def answer(self, name: str, now: float, compute: Callable[[Sequence[_Sample]], T]) -> T:
        """`compute` of the window, asked again only when the window has changed."""
        samples = self.window(now)
        key = (self.looks, len(samples))
        known = self.known.get(name)
        if known is None or known[0] != key:
            known = self.known[name] = (key, compute(samples))
        return known[1]  # type: ignore[return-value]  # each name has one `compute`


class StackSamples:
    """The samples of the newest 60 s of every process that was looked at. Looks that failed count as nothing."""

    def __init__(self) -> None:
        self._series: dict[int, _Series] = {}

    def add(self, dump: StackDump, *, has_device: bool = False) -> None:
        """Take in one dump; of one process looks come in order of time. `has_device`: as in `phase_and_frame`."""
        thread = training_thread(dump)
        if thread is None or not thread.frames:
            return
        series = self._series.setdefault(dump.pid, _Series())
        said = meaning(thread.frames, has_device)
        series.add(_Sample(dump.at_s, said, thread.is_active))
        series.standing = Standing(dump=dump, thread=thread, meaning=said)

    def add_profile(self, profile: StackProfile, *, has_device: bool = False) -> None:
        """Take in a window of samples."""
        for sample in profile.samples:
            series = self._series.setdefault(profile.pid, _Series())
            series.add(_Sample(sample.at_s, meaning(sample.frames, has_device), None))

    def take(self, reading: StackReading, on_device: Container[int] = ()) -> None:
        """Take in all of a reading; `on_device`: the processes that compute on an accelerator."""
        looks: list[StackProfile | StackDump] = [*reading.profiles, *reading.dumps]
        for look in sorted(looks, key=_ended_s):
            if isinstance(look, StackProfile):
                self.add_profile(look, has_device=look.pid in on_device)
            else:
                self.add(look, has_device=look.pid in on_device)

    def forget(self, pid: int) -> None:
        """Drop a process that has ended."""
        self._series.pop(pid, None)

    def shares(self, pid: int, now: float) -> Shares:
        """Phases and waits of the minute that ends now."""
        series = self._series.get(pid)
        return Shares() if series is None else series.answer("shares", now, _shares)

    def hot(self, pid: int) -> tuple[HotSpot, ...]:
        """The user functions that most samples were in, with their commonest line; samples that wait are left out.

        `share` is of all samples of the window that ends with the newest one.
        """
        series = self._series.get(pid)
        return () if series is None else series.answer("hot", series.seen_s, _hot)

    def lines(self, pid: int, now: float) -> tuple[HotLine, ...]:
        """The user lines that most samples were at, waits included."""
        series = self._series.get(pid)
        return () if series is None else series.answer("lines", now, _lines)

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

    def spells(self, pid: int) -> tuple[Spell, ...]:
        """When it saved or compiled."""
        series = self._series.get(pid)
        return () if series is None else series.spells.all()

    def same_stack_for_s(self, pid: int, now: float) -> float | None:
        """How long every look has shown the same main-thread stack; counted to the newest look, not to `now`.

        None before two looks, and when the newest one is older than the window: what is not looked at is not known.
        """
        series = self._series.get(pid)
        if series is None or series.looks < 2 or now - series.seen_s > WINDOW_S:
            return None
        return series.seen_s - series.same_since_s

    def phase_for_s(self, pid: int) -> float | None:
        """For which every look up to the newest has shown the same phase; None before the first."""
        series = self._series.get(pid)
        return None if series is None else series.seen_s - series.phase_since_s

    def standing(self, pid: int) -> Standing | None:
        """Where the newest dump that succeeded showed it."""
        series = self._series.get(pid)
        return None if series is None else series.standing

    def newest(self, pid: int) -> StackDump | None:
        """The newest dump that succeeded."""
        standing = self.standing(pid)
        return None if standing is None else standing.dump


def _shares(samples: Sequence[_Sample]) -> Shares:
    count = len(samples)
    if count == 0:
        return Shares()
    phases = Counter(sample.phase for sample in samples)
    asleep = _asleep(samples)
    needing = sum(sample.meaning.needs_state for sample in samples) / count
    dumps = sum(sample.is_active is not None for sample in samples)
    return Shares(
        phases=tuple(PhaseShare(phase=phase, share=found / count) for phase, found in phases.most_common()),
        samples=count,
        wait=sum(sample.waits(asleep) for sample in samples) / count,
        wait_samples=int(1 / ((1 - needing) / count + needing / max(1, dumps)) + 1e-9),
    )


def _asleep(samples: Sequence[_Sample]) -> dict[Phase, float]:
    """Of each phase the share of its dumps in which the thread slept, where that decides whether it waits."""
    active: dict[Phase, list[bool]] = {}
    for sample in samples:
        if sample.is_active is not None and sample.meaning.needs_state:
            active.setdefault(sample.phase, []).append(sample.is_active)
    return {phase: 1 - sum(found) / len(found) for phase, found in active.items()}


def _hot(samples: Sequence[_Sample]) -> tuple[HotSpot, ...]:
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
    return tuple(sorted(spots, key=lambda spot: -spot.samples)[:_HOT_SPOTS])


def _working(samples: Sequence[_Sample]) -> Iterator[StackFrame]:
    """User frames of the samples that wait neither for others nor for data."""
    asleep = _asleep(samples)
    for sample in samples:
        user = sample.meaning.user
        if user is not None and sample.phase != "data" and sample.waits(asleep) < _MOSTLY:
            yield user


def _lines(samples: Sequence[_Sample]) -> tuple[HotLine, ...]:
    return hot_lines((sample.phase, sample.meaning.user) for sample in samples)


def _flame(samples: Sequence[_Sample]) -> tuple[FlameNode, ...]:
    return flame_roots(Counter(sample.meaning.own for sample in samples))


def _held(samples: Sequence[_Sample]) -> Held | None:
    looks: list[tuple[float, tuple[StackFrame, ...]]] = []
    for sample in reversed(samples):
        if len(looks) == LOOKS:
            break
        if not looks or looks[-1][0] - sample.at_s >= LOOK_EVERY_S:
            looks.append((sample.at_s, sample.meaning.path))
    return held(looks[::-1])


def _ended_s(look: StackProfile | StackDump) -> float:
    return look.to_s if isinstance(look, StackProfile) else look.at_s
