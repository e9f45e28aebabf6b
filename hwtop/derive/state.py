"""Snapshot -> Moment: rates of everything, and the job as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from hwtop.derive.host.cgroup import cgroup_rates
from hwtop.derive.host.cpu import cpu_rates
from hwtop.derive.host.disk import disk_rates
from hwtop.derive.host.gpu import GpuRater
from hwtop.derive.host.memory import memory_rates
from hwtop.derive.host.network import network_rates
from hwtop.derive.host.programs import outside, program_rates
from hwtop.derive.job.tracker import JobTracker
from hwtop.errors import internal_error
from hwtop.job.cpu_list import cpus_of
from hwtop.job.patterns.registry import Registry
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import GpuRates
from hwtop.model.host.disk import DiskRates, DiskReading
from hwtop.model.job import Job
from hwtop.model.process import CandidateReading, ProgramRates
from hwtop.model.snapshot import OwnCost, Snapshot, SourceStatus


class Timed(Protocol):
    """Any reading."""

    @property
    def at_s(self) -> float:
        """When it was read."""


R = TypeVar("R", bound=Timed)
D = TypeVar("D")


class _Rate(Generic[R, D]):
    """Rates between the two newest distinct readings of one source; a stale reading keeps its rates."""

    def __init__(self, derive: Callable[[R | None, R], D], empty: D) -> None:
        self._derive = derive
        self._previous: R | None = None
        self._rates = empty

    def advance(self, reading: R | None) -> D:
        if reading is not None and (self._previous is None or reading.at_s != self._previous.at_s):
            self._rates = self._derive(self._previous, reading)
            self._previous = reading
        return self._rates


class StateBuilder:
    """Remembers the previous readings; one call of `advance` for each snapshot, in order.

    A step that fails leaves its part of the Moment empty and says so among the sources, as "hwtop": a mistake in one must
    not end the watch.

    `patterns`: what to look for in logs; None = what comes with hwtop.
    """

    def __init__(self, patterns: Registry | None = None) -> None:
        self._cpu = _Rate(cpu_rates, None)
        self._cgroup = _Rate(cgroup_rates, None)
        self._memory = _Rate(memory_rates, None)
        self._disks: _Rate[DiskReading, tuple[DiskRates, ...]] = _Rate(disk_rates, ())
        self._network = _Rate(network_rates, None)
        self._programs: _Rate[CandidateReading, tuple[ProgramRates, ...]] = _Rate(program_rates, ())
        self._gpus = GpuRater()
        self._job = JobTracker(patterns)
        self._own: OwnCost | None = None
        self._failures: list[SourceStatus] = []

    def advance(self, snapshot: Snapshot) -> DerivedState:
        """Everything that this snapshot and the ones before it tell."""
        gpus = snapshot.gpu.gpus if snapshot.gpu else ()
        is_picking = snapshot.candidates is not None and snapshot.process is None
        no_job: Job | None = None
        no_disks: tuple[DiskRates, ...] = ()
        no_gpu_rates: tuple[GpuRates, ...] = ()
        no_programs: tuple[ProgramRates, ...] = ()
        self._failures = []
        job = self._step("job", lambda: self._job.advance(snapshot), no_job)
        own_pids = [each.pid for each in job.processes] if job else []
        programs = self._step("candidates", lambda: self._programs.advance(snapshot.candidates), no_programs)
        derived = DerivedState(
            time_s=snapshot.time_s,
            at_s=snapshot.at_s,
            host=snapshot.host,
            interval_s=snapshot.interval_s,
            cores=usable_cores(snapshot),
            cpu=self._step("cpu", lambda: self._cpu.advance(snapshot.cpu), None),
            cgroup=self._step("cgroup", lambda: self._cgroup.advance(snapshot.cgroup), None),
            memory=self._step("memory", lambda: self._memory.advance(snapshot.memory), None),
            disks=self._step("disk", lambda: self._disks.advance(snapshot.disk), no_disks),
            mounts=snapshot.disk.mounts if snapshot.disk else (),
            network=self._step("network", lambda: self._network.advance(snapshot.network), None),
            gpus=gpus,
            gpu_rates=self._step("gpu", lambda: self._gpus.advance(snapshot.gpu), no_gpu_rates),
            topology=snapshot.gpu.topology if snapshot.gpu else None,
            gpu_costs=snapshot.gpu.costs if snapshot.gpu else (),
            job=job,
            candidates=snapshot.candidates.candidates if snapshot.candidates and is_picking else None,
            programs=outside(programs, own_pids) if snapshot.candidates else (),
            sources=(*snapshot.sources, *self._failures),
            missing=_missing(snapshot),
            cost_ms=snapshot.cost_ms,
            late_ms=snapshot.late_ms,
            own_cpu_pct=self._own_cpu_pct(snapshot.own),
            own_rss_bytes=snapshot.own.rss_bytes,
        )
        self._own = snapshot.own
        return derived

    def _step(self, name: str, derive: Callable[[], D], empty: D) -> D:
        try:
            return derive()
        except Exception as error:
            reason = internal_error(error, name)
            self._failures.append(SourceStatus(name="hwtop", status="unavailable", reason=reason))
            return empty

    def _own_cpu_pct(self, own: OwnCost) -> float | None:
        if self._own is None or own.at_s <= self._own.at_s:
            return None
        return 100.0 * (own.cpu_s - self._own.cpu_s) / (own.at_s - self._own.at_s)


def _missing(snapshot: Snapshot) -> dict[str, str]:
    parts = {
        "cpu": snapshot.cpu,
        "cgroup": snapshot.cgroup,
        "memory": snapshot.memory,
        "disk": snapshot.disk,
        "network": snapshot.network,
        "logs": snapshot.logs,
    }
    return {
        f"{name}.{field}": reason
        for name, reading in parts.items()
        if reading is not None
        for field, reason in reading.missing.items()
    }


def usable_cores(snapshot: Snapshot) -> float:
    """Cores the job may use: those online, less the target's affinity and its cgroup's quota."""
    limits: list[float] = []
    if snapshot.cpu is not None:
        limits.append(len(snapshot.cpu.cores))
    if snapshot.cgroup is not None and snapshot.cgroup.cpu_quota_cores is not None:
        limits.append(snapshot.cgroup.cpu_quota_cores)
    if snapshot.process is not None:
        processes = snapshot.process.processes
        together = frozenset[int]().union(*(cpus_of(each.allowed_cpus) for each in processes if each.allowed_cpus))
        affinities = [process.usable_cores for process in processes if process.usable_cores]
        if affinities or together:
            limits.append(max(len(together), *affinities, 0))
    return min(limits, default=1.0)
