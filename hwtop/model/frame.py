"""Moment and Frame: what is derived from a Snapshot, and what the screen gets."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.fleet import Node
from hwtop.model.gpu.device import CallCost, Gpu, GpuRates
from hwtop.model.gpu.link import Topology
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CpuRates
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.memory import MemoryRates
from hwtop.model.host.network import NetworkRates
from hwtop.model.job import Job
from hwtop.model.process import JobCandidate, ProgramRates
from hwtop.model.snapshot import SourceStatus
from hwtop.model.symptom import Blind, Episode, Finding, Hypothesis, Verdict


class DerivedState(Struct, frozen=True, gc=False, kw_only=True):
    """Everything known at one tick, rates included. What rules, reports and panels read."""

    time_s: float
    at_s: float
    host: str
    interval_s: float
    cores: float
    cpu: CpuRates | None = None
    cgroup: CgroupRates | None = None
    memory: MemoryRates | None = None
    disks: tuple[DiskRates, ...] = ()
    mounts: tuple[MountReading, ...] = ()
    network: NetworkRates | None = None
    gpus: tuple[Gpu, ...] = ()
    gpu_rates: tuple[GpuRates, ...] = ()
    topology: Topology | None = None
    gpu_costs: tuple[CallCost, ...] = ()
    """Filled only where somebody asked for it."""
    job: Job | None = None
    candidates: tuple[JobCandidate, ...] | None = None
    """None while a job is watched or before the first scan."""
    programs: tuple[ProgramRates, ...] = ()
    """What other trees of processes than the job use; while a job is watched only where they use much (`SamplingPlan.scans`)."""
    sources: tuple[SourceStatus, ...] = ()
    missing: dict[str, str] = {}
    """Why numbers of the host are missing: "cpu.psi.io" -> reason. Devices, mounts and ranks keep their own."""
    cost_ms: float = 0.0
    late_ms: float = 0.0
    own_cpu_pct: float | None = None
    """hwtop itself with its children, 100 = one core, over the last interval."""
    own_rss_bytes: int | None = None


class Frame(Struct, frozen=True, gc=False, kw_only=True):
    """What the screen, the reports and the exporters receive: one moment, its judgement, and the way here."""

    number: int
    derived: DerivedState
    history: tuple[DerivedState, ...]
    """Oldest first, this moment last; bounded."""
    verdict: Verdict
    findings: tuple[Finding, ...]
    """By importance, cascades folded."""
    blind: tuple[Blind, ...]
    watched_s: float
    """How long hwtop has watched."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """The usual suspects, each with an answer; empty without a job."""
    episodes: tuple[Episode, ...] = ()
    """When each symptom was raised and cleared since the watch began, oldest first; bounded."""
    is_calm: bool = False
    """Nothing is wrong, and nothing that was seen is about to be raised: it is enough to look less often."""
    node: str | None = None
    """Name of the one node that this is a frame of; None for a whole job and for one machine."""
    opened: Frame | None = None
    """Of a job over several nodes: the node in focus, made of its whole Snapshots."""
    nodes: tuple[Node, ...] = ()
    """Those of a job over several nodes, in the order of the launcher; `derived` is then the job over all of them. Empty for one
    machine."""
