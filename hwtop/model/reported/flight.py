"""PyTorch's Flight Recorder: what each rank enqueued, and what that says about a hang."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.stack import StackFrame

FlightState = Literal["scheduled", "started", "completed"]

FlightKind = Literal["mismatch", "missing", "stalled", "queued"]
"""mismatch: same sequence number, different operation, sizes or dtype. missing: some ranks never enqueued what others
wait in. stalled: all started the same operation and none finished (transport). queued: all enqueued it and none started
(an earlier kernel still runs)."""


class FlightEntry(Struct, frozen=True, gc=False, kw_only=True):
    """One collective or point-to-point operation as one rank recorded it."""

    group: str
    sequence: int
    is_p2p: bool
    operation: str
    """Without backend: "all_reduce", "send 1->2"."""
    backend: str
    input_sizes: tuple[tuple[int, ...], ...]
    output_sizes: tuple[tuple[int, ...], ...]
    input_dtypes: tuple[str, ...]
    output_dtypes: tuple[str, ...] = ()
    state: FlightState
    is_retired: bool
    created_s: float | None
    """Seconds after the epoch."""
    timeout_s: float | None = None
    frames: tuple[StackFrame, ...] = ()
    """The user's own, leaf first; empty where the dump holds none (JSON)."""


class FlightGroup(Struct, frozen=True, gc=False, kw_only=True):
    """A process group as one rank knows it."""

    name: str
    description: str
    ranks: tuple[int, ...] | None
    """None where the dump does not tell."""
    last_enqueued: int | None = None
    """Sequence number; -1 = none yet, None = not told."""
    last_started: int | None = None
    """As `last_enqueued`; None also where starts are not recorded (gloo; NCCL without TORCH_NCCL_ENABLE_TIMING)."""
    last_completed: int | None = None
    """As `last_enqueued`."""


class FlightDump(Struct, frozen=True, gc=False, kw_only=True):
    """The dump of one rank, or why it could not be read. Holds the newest entries only."""

    rank: int | None
    origin: str
    """The file, or "debug server of PID 12"."""
    at_s: float
    """When it was read; modification time of a file on the clock of the snapshots."""
    taken_s: float | None = None
    """When the dump was made: seconds after the epoch (of a file its modification time)."""
    is_asked: bool = False
    """hwtop asked the process for it: holds active operations only, and that another rank has none proves nothing."""
    version: str = ""
    groups: tuple[FlightGroup, ...] = ()
    entries: tuple[FlightEntry, ...] = ()
    error: str | None = None


class FlightReading(Struct, frozen=True, gc=False, kw_only=True):
    """The newest dump of each rank. A level: repeats until a newer one is found."""

    at_s: float
    dumps: tuple[FlightDump, ...]
    missing: dict[str, str] = {}


class FlightVerdict(Struct, frozen=True, gc=False, kw_only=True):
    """What the dumps of all ranks say together about one process group."""

    kind: FlightKind
    group: str
    sequence: int
    operation: str
    culprits: tuple[int, ...]
    """Ranks that differ from the majority, or that never came."""
    waiting: tuple[int, ...]
    text: str
    """One sentence."""
    evidence: tuple[str, ...]
    """One line for each set of ranks: what they enqueued, from which line of code."""
    ranks_seen: tuple[int, ...]
    ranks_without_dump: tuple[int, ...] = ()
