"""shm-nearly-full: the shared memory that loader workers pass batches through."""

from __future__ import annotations

from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, Percent, Rule


class ShmLimits(Limits, frozen=True, kw_only=True):
    """Of shm-nearly-full."""

    used_pct: Percent = 90.0
    """At 95 % and more the next batch may not fit; a warning must come before the bus error. Engineering default."""


SHM = ShmLimits()


def check_shm(history: History, limits: ShmLimits = SHM) -> Observation | None:
    """/dev/shm is nearly full."""
    for mount in history.now.mounts:
        if mount.mount_point != "/dev/shm" or not mount.total_bytes or mount.used_bytes is None:
            continue
        used_pct = 100.0 * mount.used_bytes / mount.total_bytes
        if used_pct < limits.used_pct:
            return None
        left = mount.total_bytes - mount.used_bytes
        return Observation(
            severity="warning",
            confidence=0.95,
            title=f"/dev/shm is {used_pct:.0f} % full: loader workers will die with a bus error when it is",
            evidence=(
                f"{mount.used_bytes / 1e9:.2f} of {mount.total_bytes / 1e9:.2f} GB used, {left / 1e6:.0f} MB left",
            ),
            next_steps=(
                "ls -lhS /dev/shm | head   # what fills it; torch_* files of dead processes can go",
                "Container: start it with --shm-size=16g or --ipc=host",
                "mount -o remount,size=50% /dev/shm   # as root, until the next boot",
                'torch.multiprocessing.set_sharing_strategy("file_system"), or smaller prefetch_factor',
            ),
        )
    return None


RULES = (
    Rule(
        symptom="shm-nearly-full",
        category="stability",
        threshold=lambda limits: f"/dev/shm over {limits.used_pct:g} %",
        raise_s=1.0,
        clear_s=10.0,
        check=check_shm,
        limits=SHM,
    ),
)
