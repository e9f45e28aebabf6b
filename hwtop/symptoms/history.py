"""History: the newest minutes of Moments, and the questions that rules ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

from hwtop.model.baseline import Baseline
from hwtop.model.frame import Moment
from hwtop.model.job import Job
from hwtop.model.rank import Rank


class History:
    """Moments, oldest first, the last one is now. Never empty."""

    def __init__(self, moments: Sequence[Moment], earlier: Baseline | None = None) -> None:
        """`earlier`: what an earlier run of this job was like, if one is remembered."""
        self.moments = moments
        self.earlier = earlier

    @property
    def now(self) -> Moment:
        """The newest moment."""
        return self.moments[-1]

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
        return self.now.at_s - self.moments[0].at_s

    def over(self, seconds: float) -> Sequence[Moment]:
        """The moments of the newest `seconds`."""
        since_s = self.now.at_s - seconds
        first = len(self.moments)
        while first > 0 and self.moments[first - 1].at_s >= since_s:
            first -= 1
        return self.moments[first:]

    def values(self, seconds: float, value: Callable[[Moment], float | None]) -> list[float]:
        """The known values of the newest `seconds`."""
        return [known for moment in self.over(seconds) if (known := value(moment)) is not None]

    def mean(self, seconds: float, value: Callable[[Moment], float | None]) -> float | None:
        """Mean of the known values, None when the window is not yet covered or holds fewer than 3."""
        known = self.values(seconds, value)
        return fmean(known) if len(known) >= 3 and self.covers(seconds) else None

    def median(self, seconds: float, value: Callable[[Moment], float | None]) -> float | None:
        """Like `mean`, with the median."""
        known = self.values(seconds, value)
        return median(known) if len(known) >= 3 and self.covers(seconds) else None

    def covers(self, seconds: float) -> bool:
        """Has been watched for (nearly) that long: one tick less counts as whole."""
        return self.watched_s >= seconds - 1.5 * self.now.interval_s

    def rank_mean(self, seconds: float, number: int, value: Callable[[Rank], float | None]) -> float | None:
        """Mean over time of a value of one rank."""
        return self.mean(seconds, lambda moment: _of_rank(moment, number, value))

    def rank_series(
        self, seconds: float, number: int, value: Callable[[Rank], float | None]
    ) -> list[tuple[float, float]]:
        """(at_s, value) of one rank, where known."""
        return list(self._rank_points(seconds, number, value))

    def _rank_points(
        self, seconds: float, number: int, value: Callable[[Rank], float | None]
    ) -> Iterator[tuple[float, float]]:
        for moment in self.over(seconds):
            known = _of_rank(moment, number, value)
            if known is not None:
                yield moment.at_s, known


def _of_rank(moment: Moment, number: int, value: Callable[[Rank], float | None]) -> float | None:
    if moment.job is None:
        return None
    for rank in moment.job.ranks:
        if rank.rank == number and rank.is_alive:
            return value(rank)
    return None
