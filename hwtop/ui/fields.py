"""What the filter of each table can ask of its rows, and what the table can be sorted by. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from hwtop.model.job import Job
from hwtop.model.member import HelperKind, JobProcess
from hwtop.model.rank import Phase, Rank, RankState
from hwtop.ui.query import Field

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
RANKS: Mapping[str, Field[Rank]] = {field.name: field for field in _RANKS}

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
    Field("command", "word", lambda item: (item.command,)),
)
"""Sizes of `read` and `write` are a second's."""


def processes(job: Job | None) -> Mapping[str, Field[JobProcess]]:
    """Fields of this job's processes: the GPUs are those of the rank."""
    gpus = {rank.rank: rank.gpus for rank in job.ranks} if job else {}
    gpu: Field[JobProcess] = Field("gpu", "count", lambda item: () if item.rank is None else gpus.get(item.rank, ()))
    return {field.name: field for field in (gpu, *_PROCESSES)}


def rank_text(rank: Rank) -> str:
    """Where words are looked for."""
    return f"rank {rank.rank} {rank.pid} {rank.state} {rank.phase or ''} {rank.last_line or ''}"


def process_text(item: JobProcess) -> str:
    """Where words are looked for."""
    rank = "" if item.rank is None else f" rank {item.rank}"
    return f"{item.pid} {item.role}{rank} {STATES.get(item.state, (item.state,))[0]} {item.wchan or ''} {item.command}"
