"""Whose flame is shown."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.stacks.samples import StackSamples
from hwtop.model.flame import Flame
from hwtop.model.rank import Rank
from hwtop.model.snapshot import Snapshot


def flame_of(ranks: Sequence[Rank], samples: StackSamples, snapshot: Snapshot) -> Flame | None:
    """That of the focused rank, else of the first that lives; None before its first sample."""
    focus = snapshot.stacks.focus_pid if snapshot.stacks else None
    alive = [rank for rank in ranks if rank.is_alive]
    rank = next((each for each in alive if each.pid == focus), alive[0] if alive else None)
    if rank is None or rank.stack.samples == 0:
        return None
    return Flame(
        rank=rank.rank,
        pid=rank.pid,
        samples=rank.stack.samples,
        window_s=samples.covered_s(rank.pid, snapshot.at_s),
        roots=samples.flame(rank.pid, snapshot.at_s),
    )
