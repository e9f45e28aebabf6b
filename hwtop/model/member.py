"""Processes of the job and their place in it: launcher, ranks, workers, helpers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

HelperKind = Literal["launcher", "wrapper", "loader-worker", "resource-tracker", "compile-worker", "logger", "other"]


ProcessRole = Literal["rank", HelperKind]


class Member(Struct, frozen=True, gc=False, kw_only=True):
    """One process of the job with its place in it: what `hwtop.job.launch.tree.members` makes of a ProcessReading."""

    pid: int
    ppid: int
    depth: int
    """Distance from the job's root."""
    role: ProcessRole
    rank: int | None = None
    """Of a rank its number; of a loader worker or other helper the rank it belongs to."""
    local_rank: int | None = None
    world_size: int | None = None
    launcher_kind: str | None = None
    """Of a launcher: "torchrun", "accelerate", "mpirun", "python", ..."""
    run_id: str | None = None
    """What tells this job from another on the same box."""


class Launcher(Struct, frozen=True, gc=False, kw_only=True):
    """What started the ranks."""

    pid: int
    kind: str
    command: str
    is_alive: bool = True


class JobProcess(Struct, frozen=True, gc=False, kw_only=True):
    """One row of the process table."""

    pid: int
    ppid: int
    depth: int
    role: ProcessRole
    rank: int | None
    user: str | None = None
    """As in ProcessInfo."""
    state: str
    cpu_pct: float | None
    rss_bytes: int | None
    thread_count: int
    read_bytes_per_s: float | None
    written_bytes_per_s: float | None
    fd_count: int | None
    wchan: str | None
    threads: dict[str, int]
    """comm -> how many threads carry it."""
    thread_states: dict[str, int]
    """state letter -> how many threads are in it."""
    command: str
    caught_signals: int | None = None
    """SigCgt mask."""
    ignored_signals: int | None = None
    """SigIgn mask."""
    start_ticks: int | None = None
    """As in ProcessInfo."""
    fd_limit: int | None = None
    """Soft limit of open files."""
    process_limit: int | None = None
    """As in ProcessInfo."""
    exit_code: int | None = None
    """Of a zombie, where it may be read: negative = signal."""
