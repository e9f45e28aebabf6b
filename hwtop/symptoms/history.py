"""History: the newest minutes of derived states, and the questions that rules ask of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from statistics import fmean, median
from typing import Any, TypeVar

from hwtop.model.baseline import Baseline
from hwtop.model.evidence import REPEATED
from hwtop.model.fleet import Node
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.rank import Rank

A = TypeVar("A")


class History:
    """Derived states, oldest first, the last one is now. Never empty."""

    def __init__(
        self, derived_states: Sequence[DerivedState], earlier: Baseline | None = None, nodes: Sequence[Node] = ()
    ) -> None:
        """`earlier`: what an earlier run of this job was like, if one is remembered. `nodes`: those of a job over several nodes, now."""
        self.derived_states = derived_states
        self.earlier = earlier
        self.nodes = nodes
        self._answers: dict[tuple[object, ...], Any] = {}

    def once(self, question: Callable[..., A], *arguments: Hashable) -> A:
        """What `question(self, *arguments)` gives, worked out at the first call: several rules ask the same of one frame."""
        key = (question, *arguments)
        if key not in self._answers:
            self._answers[key] = question(self, *arguments)
        answer: A = self._answers[key]
        return answer

    @property
    def now(self) -> DerivedState:
        """The newest state."""
        return self.derived_states[-1]

    @property
    def job(self) -> Job | None:
        """The job now."""
        return self.now.job

    @property
    def live_ranks(self) -> tuple[Rank, ...]:
        """Ranks that are alive now."""
        return () if self.job is None else tuple(rank for rank in self.job.ranks if rank.is_alive)

    @property
    def watched_s(self) -> float:
        """Length of what is remembered."""
        return self.now.at_s - self.derived_states[0].at_s

    def over(self, seconds: float) -> Sequence[DerivedState]:
        """The states of the newest `seconds`."""
        return self.once(_newest, seconds)

    def of_rank(self, seconds: float, number: int) -> Iterator[tuple[DerivedState, Rank]]:
        """One rank in each state of the newest `seconds` that knows it."""
        place = self.once(_places).get(number, 0)
        for derived in self.over(seconds):
            rank = _found(derived.job, number, place)
            if rank is not None:
                yield derived, rank

    def values(self, seconds: float, value: Callable[[DerivedState], float | None]) -> list[float]:
        """The known values of the newest `seconds`."""
        return [known for derived in self.over(seconds) if (known := value(derived)) is not None]

    def mean(self, seconds: float, value: Callable[[DerivedState], float | None]) -> float | None:
        """Mean of the known values, None when the window is not yet covered or holds fewer than `REPEATED`."""
        known = self.values(seconds, value)
        return fmean(known) if len(known) >= REPEATED and self.covers(seconds) else None

    def median(self, seconds: float, value: Callable[[DerivedState], float | None]) -> float | None:
        """Like `mean`, with the median."""
        known = self.values(seconds, value)
        return median(known) if len(known) >= REPEATED and self.covers(seconds) else None

    def covers(self, seconds: float) -> bool:
        """Has been watched for (nearly) that long: one tick less counts as whole."""
        return self.watched_s >= seconds - 1.5 * self.now.interval_s

    def rank_mean(self, seconds: float, number: int, value: Callable[[Rank], float | None]) -> float | None:
        """Mean over time of a value of one rank."""
        known = [number for _, number in self.rank_series(seconds, number, value)]
        return fmean(known) if len(known) >= REPEATED and self.covers(seconds) else None

    def rank_series(
        self, seconds: float, number: int, value: Callable[[Rank], float | None]
    ) -> list[tuple[float, float]]:
        """(at_s, value) of one rank, where known."""
        return [
            (derived.at_s, known)
            for derived, rank in self.of_rank(seconds, number)
            if rank.is_alive and (known := value(rank)) is not None
        ]


def _newest(history: History, seconds: float) -> Sequence[DerivedState]:
    since_s = history.now.at_s - seconds
    return history.derived_states[bisect_left(history.derived_states, since_s, key=lambda derived: derived.at_s) :]


def _places(history: History) -> dict[int, int]:
    """Number of each rank -> its place among all now."""
    return {rank.rank: place for place, rank in enumerate(history.job.ranks)} if history.job else {}


def _found(job: Job | None, number: int, place: int) -> Rank | None:
    """The rank of this number; it is looked for at `place` first, as the order of the ranks hardly ever changes."""
    if job is None:
        return None
    if place < len(job.ranks) and job.ranks[place].rank == number:
        return job.ranks[place]
    return next((rank for rank in job.ranks if rank.rank == number), None)
