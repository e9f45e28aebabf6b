"""zombie-gpu-memory: device memory that nobody uses and nobody can have."""

from __future__ import annotations

from hwtop.job.rank_set import named
from hwtop.model.frame import Moment
from hwtop.model.gpu import Gpu, GpuProcess
from hwtop.symptoms.gpu_load import home
from hwtop.symptoms.gpu_memory import GIB, memory
from hwtop.symptoms.gpu_words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, Positive, Rule

_ENDED = ("X", "Z")


class ZombieLimits(Limits, frozen=True, kw_only=True):
    """Of zombie-gpu-memory."""

    held_mib: Positive = 15
    """What a dead process must hold to count: what Meta's GPU Cluster Monitoring allows on a GPU that should be free
    (facebookresearch/gcm, health check gpu_mem_usage)."""
    nobodys_gib: Positive = 1
    """Memory in use without any process: the driver itself takes some hundred MB of it. Engineering default."""


ZOMBIE = ZombieLimits()


def check_zombie(history: History, limits: ZombieLimits = ZOMBIE) -> Observation | None:
    """Memory that nobody can use: of a process that has ended, or of none at all."""
    dead = [(gpu, entry) for gpu in history.now.gpus if gpu.status == "ok" for entry in _dead(history, gpu, limits)]
    nobodys = [gpu for gpu in history.now.gpus if _is_nobodys(gpu, limits)]
    indexes = sorted({gpu.index for gpu, _ in dead} | {gpu.index for gpu in nobodys})
    if not indexes:
        return None
    job = history.job
    ranks = [rank for rank in (job.ranks if job else ()) if not set(indexes).isdisjoint(home(history.now, rank))]
    wanted = job is None or bool(ranks) or any(event.pattern == "cuda-oom" for event in job.events)
    held = sum(entry.mem_bytes or 0 for _, entry in dead) + sum(gpu.mem_used_bytes or 0 for gpu in nobodys)
    devices = " ".join(f"/dev/nvidia{index}" for index in indexes)
    return Observation(
        severity="warning" if wanted else "info",
        confidence=0.8 if dead else 0.65,
        title=f"{named_gpus(indexes)}: {held / GIB:.1f} GiB held by "
        + ("processes that have ended" if dead else "no process")
        + (f"; {named(rank.rank for rank in ranks)} cannot have it" if ranks else ""),
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
        next_steps=(
            f"sudo fuser -v {devices}   # processes that the driver does not list: kill those that are left over",
            "ps -eo pid,ppid,stat,cmd | awk '$3 ~ /Z/'   # zombies go when their parent does",
            f"sudo nvidia-smi --gpu-reset -i {','.join(map(str, indexes))}   # when nobody uses it any more",
        ),
        ranks=tuple(sorted(rank.rank for rank in ranks)),
    )


def _dead(history: History, gpu: Gpu, limits: ZombieLimits) -> list[GpuProcess]:
    """Holders of memory that are gone: as /proc says, or as the job's own table does."""
    return [
        entry
        for entry in gpu.processes or ()
        if (entry.mem_bytes or 0) > limits.held_mib * 2**20
        and (entry.state in _ENDED or _is_zombie(history.now, entry.pid))
    ]


def _is_zombie(moment: Moment, pid: int) -> bool:
    job = moment.job
    return any(process.pid == pid and process.state in _ENDED for process in (job.processes if job else ()))


def _is_nobodys(gpu: Gpu, limits: ZombieLimits) -> bool:
    """Idle, without a process, and yet in use."""
    is_free = gpu.status == "ok" and gpu.processes == () and not gpu.util_pct
    return is_free and (gpu.unlisted_bytes or 0) > limits.nobodys_gib * GIB


RULES = (
    Rule(
        symptom="zombie-gpu-memory",
        category="stability",
        threshold=lambda limits: (
            f"over {limits.held_mib:g} MiB held by a PID that is gone or a zombie, or over {limits.nobodys_gib:g} GiB of an idle GPU by no "
            "process, where all processes of the machine can be seen; a warning where the job needs it"
        ),
        raise_s=15.0,
        clear_s=10.0,
        check=check_zombie,
        limits=ZOMBIE,
    ),
)
