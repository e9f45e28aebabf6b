"""Rounds of stacks over time: when a round is complete, who stood apart in it, and what five rounds say."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hwtop.job.stacks.outlier_vote import ROUNDS, outliers, vote
from hwtop.model.job import OutlierVote, StackGroup
from hwtop.model.rank import Rank

ROUND_S = 3.0
"""Rounds that are nearer would catch the same step twice. ByteRobust takes one every 10 s; here the user waits. Engineering
default."""


class OutlierVotes:
    """Remembers the newest rounds; `take` is given the groups of each tick."""

    def __init__(self) -> None:
        self._rounds: deque[tuple[int, ...]] = deque(maxlen=ROUNDS)
        self._began_s = float("-inf")

    def take(self, ranks: Sequence[Rank], groups: Sequence[StackGroup], now: float) -> OutlierVote | None:
        """A round counts once every live rank was looked at since the one before; one that tells nothing counts for nobody."""
        looked_at = [rank.stack.dump.at_s if rank.stack.dump else None for rank in ranks if rank.is_alive]
        is_complete = bool(looked_at) and all(at_s is not None and at_s > self._began_s for at_s in looked_at)
        if is_complete and now - self._began_s >= ROUND_S:
            self._rounds.append(outliers(groups) or ())
            self._began_s = now
        return vote(tuple(self._rounds))
