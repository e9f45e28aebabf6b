"""zombie-gpu-memory: device memory that nobody uses and nobody can have."""

from __future__ import annotations

from hwtop.job.rank_set import named
from hwtop.job.size import GIB
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.symptoms.gpu.load import home
from hwtop.symptoms.gpu.memory import memory
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

GONE = ("X", "Z")
"""States of processes that have ended."""


ZOMBIE = limits_of("zombie-gpu-memory")


def check_zombie(history: History, limits: Limits = ZOMBIE) -> Observation | None:
    """Memory that nobody can use: of a process that has ended, or of none at all."""
    dead = [(gpu, entry) for gpu in history.now.gpus if gpu.status == "ok" for entry in _dead(history, gpu, limits)]
    nobodys = [gpu for gpu in history.now.gpus if _is_nobodys(gpu, limits)]
    indexes = sorted({gpu.index for gpu, _ in dead} | {gpu.index for gpu in nobodys})
    if not indexes:
        return None
    job = history.job
    ranks = [rank for rank in (job.ranks if job else ()) if not set(indexes).isdisjoint(home(history.now, rank))]
    wanted = job is None or bool(ranks) or any(event.pattern == "cuda-oom" for event in job.logs.events)
    held = sum(entry.mem_bytes or 0 for _, entry in dead) + sum(gpu.mem_used_bytes or 0 for gpu in nobodys)
    devices = " ".join(f"/dev/nvidia{index}" for index in indexes)
    return observed(
        "zombie-gpu-memory",
        severity="warning" if wanted else "info",
        facts={
            "gpus": named_gpus(indexes),
            "held_gib": held / GIB,
            "is_dead": bool(dead),
            "ranks": named(rank.rank for rank in ranks) if ranks else None,
            "devices": devices,
            "numbers": ",".join(map(str, indexes)),
        },
        confidence=0.8 if dead else 0.65,
        evidence=(
            *(
                f"GPU {gpu.index}: PID {entry.pid} holds {(entry.mem_bytes or 0) / GIB:.1f} GiB and "
                + ("is a zombie" if entry.state == "Z" or _is_zombie(history.now, entry.pid) else "no longer exists")
                for gpu, entry in dead[:8]
            ),
            *(
                f"{memory(gpu)} in use, {gpu.util_pct or 0.0:.0f} % busy, and no process is listed"
                for gpu in nobodys[:8]
            ),
        ),
        ranks=tuple(sorted(rank.rank for rank in ranks)),
    )


def _dead(history: History, gpu: Gpu, limits: Limits) -> list[GpuProcess]:
    """Holders of memory that are gone: as /proc says, or as the job's own table does."""
    return [
        entry
        for entry in gpu.processes or ()
        if (entry.mem_bytes or 0) > limits.held_mib * 2**20
        and (entry.state in GONE or _is_zombie(history.now, entry.pid))
    ]


def _is_zombie(derived: DerivedState, pid: int) -> bool:
    job = derived.job
    return any(process.pid == pid and process.state in GONE for process in (job.processes if job else ()))


def _is_nobodys(gpu: Gpu, limits: Limits) -> bool:
    """Idle, without a process, and yet in use."""
    is_free = gpu.status == "ok" and gpu.processes == () and not gpu.util_pct
    return is_free and (gpu.unlisted_bytes or 0) > limits.nobodys_gib * GIB
