"""What the filter of each table can ask of its rows, and what the table can be sorted by. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

from hwtop.model.gpu import Gpu, GpuStatus
from hwtop.model.job import Job
from hwtop.model.member import HelperKind, JobProcess
from hwtop.model.rank import Phase, Rank, RankState
from hwtop.ui.query import Field

Row = TypeVar("Row")

STATES = {
    "R": ("running", "good"),
    "S": ("sleeping", "dim"),
    "D": ("▲ disk wait", "warn"),
    "T": ("✖ stopped", "bad"),
    "t": ("✖ traced", "bad"),
    "Z": ("✖ zombie", "bad"),
    "X": ("✖ dead", "bad"),
    "I": ("idle", "dim"),
}
"""Word and role of a process state; "D" is mostly, not always, a wait for a disk."""

SICKEST_FIRST = "ZXTtDRSI"
"""Letters of process states."""


def state_word(letter: str) -> str:
    """The word of a process state, without its mark."""
    return STATES.get(letter, (letter, ""))[0].lstrip("▲✖ ")


_RANKS: tuple[Field[Rank], ...] = (
    Field("rank", "count", lambda rank: (rank.rank,)),
    Field("gpu", "count", lambda rank: rank.gpus),
    Field("pid", "count", lambda rank: (rank.pid,)),
    Field("state", "word", lambda rank: (rank.state, rank.os_state), (*get_args(RankState), *STATES)),
    Field("step", "count", lambda rank: (rank.progress.step if rank.progress else None,)),
    Field("ago", "seconds", lambda rank: (rank.step_age_s,)),
    Field("s/step", "seconds", lambda rank: (rank.step_time_s,)),
    Field("phase", "word", lambda rank: (rank.phase,), get_args(Phase)),
    Field("wait", "percent", lambda rank: (None if rank.wait_share is None else 100 * rank.wait_share,)),
    Field("cpu", "percent", lambda rank: (rank.tree_cpu_pct,)),
    Field("mem", "bytes", lambda rank: (rank.rss_bytes,)),
    Field("workers", "count", lambda rank: (len(rank.workers),)),
    Field("log", "seconds", lambda rank: (rank.log_age_s,)),
)
_PROCESSES: tuple[Field[JobProcess], ...] = (
    Field("rank", "count", lambda item: (item.rank,)),
    Field("pid", "count", lambda item: (item.pid,)),
    Field("role", "word", lambda item: (item.role,), ("rank", *get_args(HelperKind))),
    Field("state", "word", lambda item: (item.state, state_word(item.state)), (*STATES, *map(state_word, STATES))),
    Field("cpu", "percent", lambda item: (item.cpu_pct,)),
    Field("mem", "bytes", lambda item: (item.rss_bytes,)),
    Field("threads", "count", lambda item: (item.thread_count,)),
    Field("read", "bytes", lambda item: (item.read_bytes_per_s,)),
    Field("write", "bytes", lambda item: (item.written_bytes_per_s,)),
    Field("files", "count", lambda item: (item.fd_count,)),
    Field("wchan", "word", lambda item: (item.wchan,)),
    Field("user", "word", lambda item: (item.user,)),
    Field("command", "word", lambda item: (item.command,)),
)
"""Sizes of `read` and `write` are a second's."""
_GPUS: tuple[Field[Gpu], ...] = (
    Field("gpu", "count", lambda gpu: (gpu.index,)),
    Field("name", "word", lambda gpu: (gpu.name,)),
    Field("state", "word", lambda gpu: (gpu.status,), get_args(GpuStatus)),
    Field("util", "percent", lambda gpu: (gpu.util_pct,)),
    Field("mem", "bytes", lambda gpu: (gpu.mem_used_bytes,)),
    Field("power", "count", lambda gpu: (gpu.power_w,)),
    Field("temp", "count", lambda gpu: (gpu.temp_c,)),
    Field("pid", "count", lambda gpu: tuple(process.pid for process in gpu.processes or ())),
)
"""Power in watts, temperature in degrees Celsius."""
_CMD = "cmd"
"""Another name of `command`."""


def ranks(job: Job | None) -> Mapping[str, Field[Rank]]:
    """Fields of this job's ranks: user and command are those of the process."""
    found = {item.pid: item for item in job.processes} if job else {}

    def user(rank: Rank) -> tuple[str | None, ...]:
        return (found[rank.pid].user,) if rank.pid in found else ()

    def command(rank: Rank) -> tuple[str | None, ...]:
        return (found[rank.pid].command,) if rank.pid in found else ()

    return _named((*_RANKS, Field("user", "word", user), Field("command", "word", command)))


def processes(job: Job | None) -> Mapping[str, Field[JobProcess]]:
    """Fields of this job's processes: the GPUs are those of the rank."""
    gpus = {rank.rank: rank.gpus for rank in job.ranks} if job else {}
    gpu: Field[JobProcess] = Field("gpu", "count", lambda item: () if item.rank is None else gpus.get(item.rank, ()))
    return _named((gpu, *_PROCESSES))


def gpus(job: Job | None) -> Mapping[str, Field[Gpu]]:
    """Fields of the devices: the ranks are those of this job."""
    of_job = job.ranks if job else ()
    rank: Field[Gpu] = Field("rank", "count", lambda gpu: [each.rank for each in of_job if gpu.index in each.gpus])
    return _named((*_GPUS, rank))


def _named(every: Sequence[Field[Row]]) -> dict[str, Field[Row]]:
    found = {field.name: field for field in every}
    return found | {_CMD: found["command"]} if "command" in found else found


def gpu_text(gpu: Gpu) -> str:
    """Where words are looked for."""
    return f"GPU {gpu.index} {gpu.name} {gpu.uuid or ''} {gpu.status} {gpu.reason or ''}"


def rank_text(rank: Rank) -> str:
    """Where words are looked for."""
    return f"rank {rank.rank} {rank.pid} {rank.state} {rank.phase or ''} {rank.last_line or ''}"


def process_text(item: JobProcess) -> str:
    """Where words are looked for."""
    rank = "" if item.rank is None else f" rank {item.rank}"
    return f"{item.pid} {item.role}{rank} {STATES.get(item.state, (item.state,))[0]} {item.user or ''} {item.wchan or ''} {item.command}"
