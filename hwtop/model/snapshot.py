"""Snapshot: everything that was read at one tick. The only thing that is stored or sent."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from hwtop.model.gpu.device import GpuReading
from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.host.cpu import CpuReading
from hwtop.model.host.disk import DiskReading
from hwtop.model.host.kernel import KernelReading
from hwtop.model.host.memory import MemoryReading
from hwtop.model.host.network import NetworkReading
from hwtop.model.process import CandidateReading, ProcessDetail, ProcessReading
from hwtop.model.reported.flight import FlightReading
from hwtop.model.reported.heartbeat import HeartbeatReading
from hwtop.model.reported.log import LogReading
from hwtop.model.reported.metrics import MetricsReading
from hwtop.model.reported.ras import RasReading
from hwtop.model.signal import SentSignal
from hwtop.model.stack import DeepReading, StackReading

SourceState = Literal["ok", "stale", "unavailable"]


class SourceStatus(Struct, frozen=True, gc=False, kw_only=True):
    """How one source did at this tick."""

    name: str
    status: SourceState
    reason: str | None = None
    age_s: float | None = None
    """Age of its reading in this snapshot; None when there is none."""
    cost_ms: float | None = None
    """CPU time of its last read in its own thread; child processes included where it starts them."""


class OwnCost(Struct, frozen=True, gc=False, kw_only=True):
    """What hwtop itself takes: total since it started."""

    cpu_s: float
    """CPU time of this process and its finished children."""
    rss_bytes: int | None
    at_s: float


class Snapshot(Struct, frozen=True, gc=False, kw_only=True):
    """One tick. A field is None when its source has never answered; a stale source repeats its last reading.

    `stacks`, `deep`, `logs`, `kernel`, `metrics` and `heartbeat` carry events, not levels: each dump, line and value is in
    exactly one snapshot.
    """

    time_s: float
    at_s: float
    host: str
    interval_s: float
    late_ms: float
    """How much later than planned the tick began."""
    cost_ms: float
    """Wall time of the tick: from its start until the snapshot was complete."""
    own: OwnCost
    sources: tuple[SourceStatus, ...]
    cpu: CpuReading | None = None
    cgroup: CgroupReading | None = None
    memory: MemoryReading | None = None
    disk: DiskReading | None = None
    network: NetworkReading | None = None
    gpu: GpuReading | None = None
    process: ProcessReading | None = None
    candidates: CandidateReading | None = None
    stacks: StackReading | None = None
    deep: DeepReading | None = None
    logs: LogReading | None = None
    kernel: KernelReading | None = None
    flight: FlightReading | None = None
    ras: RasReading | None = None
    detail: ProcessDetail | None = None
    metrics: MetricsReading | None = field(default=None, name="witness")
    """Metrics files. Stored as "witness", as the first recordings have it."""
    heartbeat: HeartbeatReading | None = None
    sent_signals: tuple[SentSignal, ...] = ()
    """All that the user has sent to the job through hwtop so far, oldest first."""
