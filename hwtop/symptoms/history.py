"""History: the newest minutes of Moments, and the questions that rules ask of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from statistics import fmean, median
from typing import Any, TypeVar

from hwtop.model.baseline import Baseline
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.rank import Rank

A = TypeVar("A")


class History:
    """Moments, oldest first, the last one is now. Never empty."""

    def __init__(self, derived_states: Sequence[DerivedState], earlier: Baseline | None = None) -> None:
        """`earlier`: what an earlier run of this job was like, if one is remembered."""
        self.derived_states = derived_states
        self.earlier = earlier
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
        """The newest moment."""
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
        """The moments of the newest `seconds`."""
        since_s = self.now.at_s - seconds
        first = len(self.derived_states)
        while first > 0 and self.derived_states[first - 1].at_s >= since_s:
            first -= 1
        return self.derived_states[first:]

    def values(self, seconds: float, value: Callable[[DerivedState], float | None]) -> list[float]:
        """The known values of the newest `seconds`."""
        return [known for derived in self.over(seconds) if (known := value(derived)) is not None]

    def mean(self, seconds: float, value: Callable[[DerivedState], float | None]) -> float | None:
        """Mean of the known values, None when the window is not yet covered or holds fewer than 3."""
        known = self.values(seconds, value)
        return fmean(known) if len(known) >= 3 and self.covers(seconds) else None

    def median(self, seconds: float, value: Callable[[DerivedState], float | None]) -> float | None:
        """Like `mean`, with the median."""
        known = self.values(seconds, value)
        return median(known) if len(known) >= 3 and self.covers(seconds) else None

    def covers(self, seconds: float) -> bool:
        """Has been watched for (nearly) that long: one tick less counts as whole."""
        return self.watched_s >= seconds - 1.5 * self.now.interval_s

    def rank_mean(self, seconds: float, number: int, value: Callable[[Rank], float | None]) -> float | None:
        """Mean over time of a value of one rank."""
        return self.mean(seconds, lambda derived: _of_rank(derived, number, value))

    def rank_series(
        self, seconds: float, number: int, value: Callable[[Rank], float | None]
    ) -> list[tuple[float, float]]:
        """(at_s, value) of one rank, where known."""
        return list(self._rank_points(seconds, number, value))

    def _rank_points(
        self, seconds: float, number: int, value: Callable[[Rank], float | None]
    ) -> Iterator[tuple[float, float]]:
        for derived in self.over(seconds):
            known = _of_rank(derived, number, value)
            if known is not None:
                yield derived.at_s, known


def _of_rank(derived: DerivedState, number: int, value: Callable[[Rank], float | None]) -> float | None:
    if derived.job is None:
        return None
    for rank in derived.job.ranks:
        if rank.rank == number and rank.is_alive:
            return value(rank)
    return None
