"""NCCL RAS: what NCCL's own status port answers about every rank of the job, on all nodes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

RasState = Literal["running", "starting", "finalizing", "aborted", "error", "missing", "dead", "unknown"]
"""missing: did not answer RAS in time. dead: could not be reached over the RAS network for 60 s."""

RasPolicy = Literal["auto", "any-version", "off"]
"""Who is asked. auto: NCCL 2.28.7 and later; before that a report may crash the job (NVIDIA/nccl #1669, #1718)."""

RasKind = Literal["mismatch", "missing"]
"""As in `FlightKind`."""


class RasProcess(Struct, frozen=True, gc=False, kw_only=True):
    """A process of the job, on any node."""

    host: str
    """As the job's network knows it: mostly an IP address."""
    pid: int
    """In its own PID namespace."""


class RasRank(Struct, frozen=True, gc=False, kw_only=True):
    """One rank of one communicator."""

    rank: int
    """Inside the communicator; of the job's largest one it is mostly the rank of the job."""
    process: RasProcess | None = None
    """None where NCCL does not know it."""
    gpu: int | None = None
    """CUDA's number of it in that process."""
    state: RasState = "unknown"
    error: str | None = None
    launched: dict[str, int] = {}
    """Collective -> how many the host has launched; empty where it is not reported. Send and recv are not counted, nor is what a
    CUDA graph replays. "collective" = of any kind: NCCL before 2.26 does not tell them apart."""


class RasCount(Struct, frozen=True, gc=False, kw_only=True):
    """How many ranks of a communicator have launched so many collectives of a kind."""

    operation: str
    """As in `RasRank.launched`."""
    launched: int
    ranks: int
    """How many of them there are; the text form names few."""


class RasCommunicator(Struct, frozen=True, gc=False, kw_only=True):
    """One communicator."""

    name: str
    """NCCL's hash of it."""
    size: int | None
    ranks: tuple[RasRank, ...]
    """By number. The text form of NCCL before 2.28.7 lists only those that differ from most."""
    counts: tuple[RasCount, ...] = ()
    """By operation, the most launched first."""


class RasReport(Struct, frozen=True, gc=False, kw_only=True):
    """One answer of the port."""

    nccl_version: str | None
    communicators: tuple[RasCommunicator, ...]
    """In text only those that something is reported of."""
    communicator_count: int
    dead: tuple[RasProcess, ...] = ()
    missing: tuple[RasProcess, ...] = ()
    """Processes that did not answer in time."""
    timeouts: int = 0
    """Of RAS itself while it gathered the answer."""


class RasReading(Struct, frozen=True, gc=False, kw_only=True):
    """The newest answer. A level: repeats until the port is asked again."""

    at_s: float
    """When the port was last asked."""
    report: RasReport | None = None
    reported_at_s: float | None = None
    """When `report` came; None without one."""
    missing: dict[str, str] = {}


class RasVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """What a report says about a job that stands still."""

    kind: RasKind
    culprits: tuple[int, ...] = ()
    """Ranks of the job; empty where the report does not name them, or in numbers of a communicator only."""
    processes: tuple[RasProcess, ...] = ()
    """Theirs, as far as NCCL knows them."""
    text: str
    """One sentence."""
    evidence: tuple[str, ...]
