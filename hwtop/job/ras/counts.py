"""How many ranks of a communicator have launched the same number of collectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hwtop.model.reported.ras import RasCount, RasRank


def counts_of(ranks: Iterable[RasRank]) -> tuple[RasCount, ...]:
    """Of ranks that are all known; in the order of `RasCommunicator.counts`."""
    found = Counter(launched for rank in ranks for launched in rank.launched.items())
    return in_order(
        RasCount(operation=operation, launched=number, ranks=count) for (operation, number), count in found.items()
    )


def in_order(counts: Iterable[RasCount]) -> tuple[RasCount, ...]:
    """By operation, the most launched first."""
    return tuple(sorted(counts, key=lambda count: (count.operation, -count.launched)))
