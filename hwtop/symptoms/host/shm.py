"""shm-nearly-full: the shared memory that loader workers pass batches through."""

from __future__ import annotations

from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

SHM = limits_of("shm-nearly-full")


def check_shm(history: History, limits: Limits = SHM) -> Observation | None:
    """/dev/shm is nearly full."""
    for mount in history.now.mounts:
        if mount.mount_point != "/dev/shm" or not mount.total_bytes or mount.used_bytes is None:
            continue
        used_pct = 100.0 * mount.used_bytes / mount.total_bytes
        if used_pct < limits.used_pct:
            return None
        left = mount.total_bytes - mount.used_bytes
        return observed(
            "shm-nearly-full",
            confidence=0.95,
            facts={"used_pct": used_pct},
            evidence=(
                f"{mount.used_bytes / 1e9:.2f} of {mount.total_bytes / 1e9:.2f} GB used, {left / 1e6:.0f} MB left",
            ),
        )
    return None
