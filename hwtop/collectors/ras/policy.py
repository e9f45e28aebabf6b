"""Whether the user lets hwtop ask NCCL: the setting `nccl.ras`, for all jobs that this process watches."""

from __future__ import annotations

from hwtop.model.reported.ras import RasPolicy

_adopted: list[RasPolicy] = ["off"]


def adopt(policy: RasPolicy) -> None:
    """From the user's settings. A command that does not read them asks nobody."""
    _adopted[0] = policy


def adopted() -> RasPolicy:
    """The newest one."""
    return _adopted[0]
