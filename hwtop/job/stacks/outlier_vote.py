"""Which rank is slow, by vote over rounds of stacks. Pure.

ByteRobust (arXiv 2509.16293) takes the stacks of all ranks in rounds, marks in each round those that stand apart from the
majority, and after five rounds blames who was marked most often: one round catches a healthy rank by chance, five do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hwtop.model.job import OutlierVote, StackGroup
from hwtop.model.rank_stack import Phase

ROUNDS = 5
"""Rounds of stacks that are compared. Source: ByteRobust (arXiv 2509.16293)."""
_MOST_VOTES = 0.6
"""Of the rounds in which the slow rank must differ from the others: three of five. Engineering default."""
_WAITS: frozenset[Phase] = frozenset({"collective", "backward", "sync"})
"""Where a rank stands that waits for a slower one: gloo waits inside backward, CUDA in the next synchronisation."""


def outliers(groups: Sequence[StackGroup]) -> tuple[int, ...] | None:
    """Ranks outside the group of the majority, where that waits for others; None when this round tells nothing.

    Ranks that wait as the majority does, somewhere else, are no outliers: a slow rank is one that works.
    """
    ranks = sum(len(entry.ranks) for entry in groups)
    if ranks < 3 or not groups:
        return None
    majority = groups[0]
    if 2 * len(majority.ranks) <= ranks or majority.phase not in _WAITS:
        return None
    return tuple(sorted(rank for entry in groups[1:] if entry.phase not in _WAITS for rank in entry.ranks))


def vote(rounds: Sequence[tuple[int, ...]]) -> OutlierVote | None:
    """Who stood apart most often in the newest `ROUNDS` rounds; None before that, and when nobody clearly did."""
    if len(rounds) < ROUNDS:
        return None
    newest = rounds[-ROUNDS:]
    votes = Counter(rank for marked in newest for rank in marked).most_common(2)
    if not votes or votes[0][1] < _MOST_VOTES * ROUNDS:
        return None
    if len(votes) > 1 and votes[1][1] >= votes[0][1]:
        return None
    return OutlierVote(rank=votes[0][0], votes=votes[0][1], rounds=ROUNDS)
