"""Aim: what the collectors should look at next. The only thing that a frame sends back to the machine's side."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.reported.metrics import MetricsTarget

RequestKind = Literal["native", "pystack", "faulthandler", "flight-pipe", "sudo"]
"""Deep looks; "sudo": run py-spy as root with `sudo -n` from now on; and "flight-pipe": write to the Flight Recorder FIFOs of all ranks on this box (a dump of one
says little), which makes them dump; `pid` may be any of them or the target."""


class LogTarget(Struct, frozen=True, gc=False, kw_only=True):
    """A log file to follow."""

    path: str
    pids: tuple[int, ...] = ()
    """Processes whose fd 1 or 2 it is."""
    may_lack: bool = False
    """It is not reported where it does not exist."""
    rank: int | None = None
    """Of a rank that is not here: the one whose log it must be, by its name."""


class Request(Struct, frozen=True, gc=False, kw_only=True):
    """Something that may touch the job, asked for and confirmed by a person. Served once."""

    number: int
    """Grows with each request of a session."""
    kind: RequestKind
    pid: int


class UserFocus(Struct, frozen=True, gc=False, kw_only=True):
    """What the person at the screen wants to see."""

    node: str | None = None
    """The node that is opened, of a job over several: it sends whole Snapshots."""
    rank: int | None = None
    """The rank on screen."""
    detail_pid: int | None = None
    """The process whose environment and open files are on screen."""
    request: Request | None = None
    """The newest one."""
    stack_budget_pct: float | None = None
    """Share of one core for stacks; None: as at the start."""


class FlightTarget(Struct, frozen=True, gc=False, kw_only=True):
    """Where the Flight Recorder dump of one rank is, will be, or can be had."""

    rank: int
    pid: int
    uid: int | None = None
    """User of the process: files of others prove nothing."""
    files: tuple[str, ...] = ()
    """Paths to look at: the configured prefix + rank, and what log lines named."""
    pipe: str | None = None
    """FIFO that makes it dump when a byte is written."""
    started_s: float | None = None
    """When the process started, seconds after the epoch: older files are of another run."""
    is_alive: bool = True
    may_ask: bool = False
    """The job looks stuck: the debug server of the process may be asked, which runs code in it."""


class SamplingPlan(Struct, frozen=True, gc=False, kw_only=True):
    """Computed from the newest Moment and the wish; a replay ignores it."""

    target_pid: int | None = None
    stack_pids: tuple[int, ...] = ()
    """Processes to take stacks of, the most wanted first: focused rank, ranks, then workers while data is waited for."""
    asleep_since_s: dict[int, float] = {}
    """While the whole job sleeps: since when each rank does, by PID. A look from before then is worth nothing now, and one dump
    tells all until it is woken: that one is due at once."""
    focus_pid: int | None = None
    """The rank on screen: sampled at 1 Hz or faster."""
    logs: tuple[LogTarget, ...] = ()
    detail_pid: int | None = None
    request: Request | None = None
    stack_budget_pct: float | None = None
    """As of `UserFocus`."""
    flight: tuple[FlightTarget, ...] = ()
    metrics: tuple[MetricsTarget, ...] = ()
    """Processes that may have a heartbeat or leave metrics files."""
    scans: bool = False
    """Others use much of the machine: scan all processes for who that is."""
    ras_pids: tuple[int, ...] = ()
    """Ranks whose NCCL may be asked by its RAS port for the state of all ranks: those of a job that looks stuck."""
