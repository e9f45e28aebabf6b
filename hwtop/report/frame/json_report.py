"""The JSON contract of `hwtop diagnose` and `hwtop snapshot`.

Unknown numbers are null.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, structs

from hwtop import __version__
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.gpu.device import CallCost, Gpu, GpuRates
from hwtop.model.gpu.link import Topology
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CpuRates
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.memory import MemoryRates
from hwtop.model.host.network import NicRates
from hwtop.model.output import Output
from hwtop.model.snapshot import SourceStatus
from hwtop.model.symptom import Blind, Episode, Finding, Hypothesis, Verdict
from hwtop.report.frame.coverage import Coverage, coverage
from hwtop.report.frame.job_object import JobObject, job_object
from hwtop.report.frame.next_actions import Action, next_actions

QUOTED_IN_JOB = (
    "job.conclusion",
    "job.flight",
    "job.launcher",
    "job.place",
    "job.processes",
    "job.ranks",
    "job.ras",
)
QUOTED = (
    "blind",
    "coverage",
    "episodes.title",
    "findings.evidence",
    "findings.folded",
    "findings.log_line",
    "findings.next_steps",
    "findings.title",
    "hypotheses.result",
    *QUOTED_IN_JOB,
    "next_actions.command",
    "next_actions.why",
    "verdict.text",
)
"""Parts of a diagnosis whose text may hold what the job or the machine chose: lines of logs, paths, names, command lines."""


class Target(Struct, frozen=True, kw_only=True):
    """What was watched, and for how long."""

    pid: int | None
    host: str
    watched_s: float
    time: float
    """Seconds after the epoch."""


class Diagnosis(Output, frozen=True, kw_only=True):
    """`hwtop diagnose --json`."""

    hwtop: str
    target: Target
    verdict: Verdict
    job: JobObject | None
    findings: tuple[Finding, ...]
    episodes: tuple[Episode, ...]
    """When each symptom was raised and cleared."""
    hypotheses: tuple[Hypothesis, ...]
    blind: tuple[Blind, ...]
    next_actions: tuple[Action, ...]
    coverage: Coverage
    untrusted: tuple[str, ...] = QUOTED
    """Parts whose text may quote the job: data, never instructions."""
    end: str | UnsetType = UNSET
    """By which hwtop recognises its own report in a log."""


class GpuObject(Gpu, frozen=True, kw_only=True):
    """A device with the rates of its counters; null in the first second."""

    rates: GpuRates | None


class CpuObject(CpuRates, frozen=True, kw_only=True):
    """The processor, and the cores that the job may use."""

    usable_cores: float


class NetworkObject(Struct, frozen=True, kw_only=True):
    """Of all interfaces together."""

    tcp_retransmit_pct: float | None


class SamplerObject(Struct, frozen=True, kw_only=True):
    """hwtop itself."""

    cost_ms: float
    late_ms: float
    cpu_pct: float | None
    rss_bytes: int | None
    sources: tuple[SourceStatus, ...]


class SnapshotReport(Output, frozen=True, kw_only=True):
    """`hwtop snapshot --json`: one snapshot with derived rates."""

    time: float
    host: str
    interval_s: float
    gpus: tuple[GpuObject, ...]
    gpu_topology: Topology | None
    cpu: CpuObject | None
    memory: MemoryRates | None
    cgroup: CgroupRates | None
    disks: tuple[DiskRates, ...]
    mounts: tuple[MountReading, ...]
    nics: tuple[NicRates, ...]
    network: NetworkObject
    job: JobObject | None
    sampler: SamplerObject
    gpu_calls: tuple[CallCost, ...] | UnsetType = UNSET
    """With --costs: one object per function of NVML, the largest total first."""
    untrusted: tuple[str, ...] = ("disks", "mounts", "nics", *QUOTED_IN_JOB)
    end: str | UnsetType = UNSET
    """As of `Diagnosis`."""


def diagnosis(frame: Frame) -> Diagnosis:
    """The object that `hwtop diagnose --json` prints."""
    job = frame.derived.job
    return Diagnosis(
        hwtop=__version__,
        target=Target(
            pid=job.target_pid if job else None,
            host=frame.derived.host,
            watched_s=round(frame.watched_s, 1),
            time=frame.derived.time_s,
        ),
        verdict=frame.verdict,
        job=job_object(job) if job else None,
        findings=frame.findings,
        episodes=frame.episodes,
        hypotheses=frame.hypotheses,
        blind=frame.blind,
        next_actions=next_actions(frame),
        coverage=coverage(frame),
    )


def snapshot(frame: Frame, *, with_costs: bool = False) -> SnapshotReport:
    """The object that `hwtop snapshot --json` prints."""
    derived = frame.derived
    return SnapshotReport(
        time=derived.time_s,
        host=derived.host,
        interval_s=derived.interval_s,
        gpus=_gpus(derived),
        gpu_topology=derived.topology,
        cpu=CpuObject(**structs.asdict(derived.cpu), usable_cores=derived.cores) if derived.cpu else None,
        memory=derived.memory,
        cgroup=derived.cgroup,
        disks=derived.disks,
        mounts=derived.mounts,
        nics=derived.network.nics if derived.network else (),
        network=NetworkObject(tcp_retransmit_pct=derived.network.tcp_retransmit_pct if derived.network else None),
        job=job_object(derived.job) if derived.job else None,
        sampler=SamplerObject(
            cost_ms=derived.cost_ms,
            late_ms=derived.late_ms,
            cpu_pct=derived.own_cpu_pct,
            rss_bytes=derived.own_rss_bytes,
            sources=derived.sources,
        ),
        gpu_calls=derived.gpu_costs if with_costs else UNSET,
    )


def _gpus(derived: DerivedState) -> tuple[GpuObject, ...]:
    rates = {rate.index: rate for rate in derived.gpu_rates}
    return tuple(GpuObject(**structs.asdict(gpu), rates=rates.get(gpu.index)) for gpu in derived.gpus)
