"""The samples of one process over time. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct

from hwtop.job.stacks.classified import ClassifiedStack
from hwtop.job.stacks.frames import is_user_frame
from hwtop.job.stacks.intervals import PhaseIntervals
from hwtop.job.stacks.saving import LEARNS, Saving
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackDump, ThreadStack

WINDOW_S = 60.0
"""Window of the samples that shares and phases are made of. Engineering default."""
GAP_S = 30.0
"""A longer time without a sample ends a phase: what was in between is unknown. Engineering default."""
_KEPT_SAMPLES = 400
"""A process is kept with at most so many samples: 5 Hz over the window, and as many dumps again."""
_BEFORE_TRAINING: frozenset[Phase] = frozenset({"startup", "rendezvous"})
_OF_TRAINING: frozenset[Phase] = frozenset({"forward", "backward", "optimizer", "data", "data-main"})
"""Once a process was seen in one of these, what it did while it started no longer counts in its shares."""
_PREPARES: frozenset[Phase] = frozenset(
    {"startup", "rendezvous", "compile", "data-main", "other", "logging", "checkpoint"}
)
"""All that was seen before the first of `LEARNS`: then a data set was read or made (and its cache written), or a checkpoint loaded,
before the training, and that does not count. A barrier, where the ranks meet, does not end it."""
_KEPT_FUNCTIONS = 8192
_STEPS: frozenset[Phase] = LEARNS | {"data", "sync"}
"""Only a training loop is seen in these."""
T = TypeVar("T")


class StackState(Struct, frozen=True, kw_only=True):
    """The newest look that showed a process with all its threads."""

    dump: StackDump
    thread: ThreadStack
    """The one that trains."""
    classified: ClassifiedStack

    @property
    def is_waiting(self) -> bool:
        """It waited for others or for the device."""
        return self.classified.waits(self.thread.is_active)


class Sample(Struct, frozen=True):
    """Where the thread that trains was at one time."""

    at_s: float
    classified: ClassifiedStack
    is_active: bool | None
    """None: a profile does not tell."""

    @property
    def phase(self) -> Phase:
        """What it did."""
        return self.classified.phase

    def waits(self, asleep: dict[Phase, float], *, counts_barriers: bool = False) -> float:
        """Probability that it waits for a slower rank; `asleep`: share of sleep by phase."""
        if self.classified.is_at_barrier and not counts_barriers:
            return 0.0
        if self.is_active is not None or not self.classified.needs_state:
            return float(self.classified.waits(bool(self.is_active)))
        return asleep.get(self.phase, 0.0)


class Series:
    """The samples of one process."""

    def __init__(self, halts: Collection[tuple[float, float]]) -> None:
        """`halts`: (from, to) of the times whose samples do not count; the owner adds to it."""
        self.halts = halts
        self.samples: deque[Sample] = deque(maxlen=_KEPT_SAMPLES)
        self.stack_state: StackState | None = None
        self.looks = 0
        self.place: tuple[tuple[str, str, int], ...] = ()
        self.same_since_s = 0.0
        self.functions: tuple[object, ...] = ()
        self.same_function_since_s = 0.0
        self.elsewhere_s = 0.0
        """When a look last showed another place."""
        self.phase: Phase | None = None
        self.phase_since_s = 0.0
        self.seen_s = 0.0
        self.started_until_s = float("-inf")
        self.has_trained = False
        self.has_only_prepared = True
        self.has_stepped = False
        self.intervals = PhaseIntervals()
        self._saving = Saving()
        self._window: tuple[tuple[object, ...], list[Sample]] | None = None
        """The last window, with what it depends on."""
        self._known: dict[str, tuple[int, int, object]] = {}
        """Answers, with the number of looks and the length of the window that they were worked out for."""

    def add(self, sample: Sample) -> None:
        """Take in the next one in time."""
        said = self._saving.read(sample.classified)
        if self.looks == 0 or said.place != self.place:
            self.place, self.same_since_s, self.elsewhere_s = said.place, sample.at_s, self.seen_s
        if self.looks == 0 or functions_of(said) != self.functions or sample.at_s - self.seen_s > GAP_S:
            self.functions, self.same_function_since_s = functions_of(said), sample.at_s
        if said.phase != self.phase or sample.at_s - self.seen_s > GAP_S:
            self.phase, self.phase_since_s = said.phase, sample.at_s
        self.looks += 1
        self.seen_s = sample.at_s
        self.has_trained = self.has_trained or said.phase in _OF_TRAINING
        if said.phase in _BEFORE_TRAINING and not self.has_trained:
            self.started_until_s = sample.at_s
        if said.phase in LEARNS:
            self.begin()
        self.has_only_prepared = self.has_only_prepared and (said.phase in _PREPARES or said.is_at_barrier)
        if (
            self.has_trained and not self.has_only_prepared
        ):  # what a start loads, writes and compiles interrupts nothing
            self.intervals.add(sample.at_s, said.phase)
        self.samples.append(sample if said is sample.classified else Sample(sample.at_s, said, sample.is_active))

    def begin(self) -> None:
        """The training runs by now. Where all before was preparation, that does not count."""
        self.has_trained = self.has_stepped = True
        if self.has_only_prepared and self.samples:
            self.started_until_s = self.samples[-1].at_s
        self.has_only_prepared = False

    def window(self, now: float) -> list[Sample]:
        """Those of the newest minute, without those of start-up once it has trained, and of halts."""
        since_s = now - WINDOW_S
        after_s = self.started_until_s if self.has_trained else float("-inf")
        key = (now, self.looks, after_s, *self.halts)
        if self._window is not None and self._window[0] == key:
            return self._window[1]
        kept = [each for each in self.samples if each.at_s >= since_s and each.at_s > after_s]
        for from_s, to_s in self.halts:
            if to_s >= since_s:
                kept = [each for each in kept if not from_s <= each.at_s <= to_s]
        self._window = (key, kept)
        return kept

    def answer(self, name: str, now: float, compute: Callable[[Sequence[Sample]], T], news: float = 0.0) -> T:
        """`compute` of the window, asked again only when more than this share of it has come or gone."""
        samples = self.window(now)
        known = self._known.get(name)
        if known is not None:
            looks, length, kept = known
            if max(self.looks - looks, abs(len(samples) - length)) <= news * min(length, len(samples)):
                return kept  # type: ignore[return-value]  # each name has one `compute`
        result = compute(samples)
        self._known[name] = (self.looks, len(samples), result)
        return result


@lru_cache(maxsize=_KEPT_FUNCTIONS)
def functions_of(said: ClassifiedStack) -> tuple[object, ...]:
    """The user's functions on the stack, root first, and the part of a step that a library does below them: a loop that stays
    in one function changes its line only, whatever C function or comprehension it calls. What calls itself is there once."""
    users = ((frame.name, frame.filename) for frame in said.path if is_user_frame(frame) and frame.name[:1] != "<")
    return (*dict.fromkeys(users), said.phase if said.phase in _STEPS or said.phase == "collective" else None)
