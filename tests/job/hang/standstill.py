"""Whether a job is called stuck."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.hang.liveness import LEVEL
from hwtop.job.hang.stall import PATIENCE, Patience, standstill_phi
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank


def is_standing_still(ranks: Sequence[Rank], gpus: Sequence[Gpu] = (), patience: Patience = PATIENCE) -> bool:
    """No live rank makes progress, and that is improbable of a healthy job."""
    return standstill_phi(ranks, gpus, patience) >= LEVEL
