"""The live source: this machine, one Snapshot per tick."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
from hwtop.collectors.gpu.source import GpuSource
from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.process.candidates import CandidateSource
from hwtop.collectors.sampler import Sampler
from hwtop.collectors.source import Source
from hwtop.model.plan import SamplingPlan
from hwtop.model.signal import SentSignal
from hwtop.model.snapshot import Snapshot

_FIRST_TICKS_S = 0.4
"""Interval of the first ticks, so that rates and stacks are available within a second."""
_FIRST_TICKS = 3
LIVE_STACK_BUDGET_PCT = 1.0
"""Share of one core for stacks on a screen that may be open for hours."""


class LiveSource:
    """Iterates over snapshots of this machine until closed. Ticks do not drift: a late one shortens the next wait."""

    def __init__(
        self,
        *,
        target_pid: int | None,
        interval_s: float = 1.0,
        log_globs: tuple[str, ...] = (),
        gpus: tuple[int, ...] | None = None,
        gpu_costs: bool = False,
        stack_budget_pct: float = LIVE_STACK_BUDGET_PCT,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        sources = machine_sources(gpus, costs=gpu_costs) + (
            [CandidateSource()]
            if target_pid is None
            else job_sources(target_pid, log_globs=log_globs, stack_budget_pct=stack_budget_pct)
        )
        self._sampler = Sampler(sources, host=os.uname().nodename, interval_s=interval_s)
        self._now = now
        self._closing = threading.Event()
        self._woken = threading.Event()

    def __iter__(self) -> Iterator[Snapshot]:
        planned_s = self._now()
        ticks = 0
        while not self._closing.is_set():
            yield self._sampler.tick(planned_s)
            ticks += 1
            planned_s = self._wait(planned_s, is_first=ticks <= _FIRST_TICKS)

    @property
    def interval_s(self) -> float:
        """Seconds from tick to tick. May be set from any thread and applies to the current wait."""
        return self._sampler.interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        self._sampler.interval_s = seconds
        self._woken.set()

    def _wait(self, last_s: float, *, is_first: bool) -> float:
        """Wait for the tick after the one planned at `last_s`; returns its planned time."""
        while True:
            self._woken.clear()  # before the interval is read: one that is set later wakes the wait below
            interval_s = self.interval_s
            planned_s = last_s + (min(interval_s, _FIRST_TICKS_S) if is_first else interval_s)
            now_s = self._now()
            if planned_s < now_s - interval_s:
                return now_s  # the machine was suspended or is badly late: do not race to catch up
            if planned_s <= now_s or self._closing.is_set():
                return planned_s
            self._woken.wait(planned_s - now_s)

    def set_plan(self, plan: SamplingPlan) -> None:
        """Sample by `plan` from now on."""
        self._sampler.set_plan(plan)

    def signalled(self, name: str, pids: tuple[int, ...]) -> None:
        """The user has sent this signal to these processes of the job, through hwtop."""
        self._sampler.sent_signals += (SentSignal(signal=name, pids=pids, at_s=self._now()),)

    def close(self) -> None:
        """End the iteration and release the source threads."""
        self._closing.set()
        self._woken.set()
        self._sampler.close()


def machine_sources(gpus: tuple[int, ...] | None, *, costs: bool = False) -> list[Source]:
    """Sources of any machine; with `costs` also the time spent in each NVML function."""
    nvidia = GpuNvidiaSource(only=gpus, costs=costs)
    return [CpuSource(), MemorySource(), DiskSource(), NetworkSource(), GpuSource(only=gpus, nvidia=nvidia)]


def job_sources(target_pid: int, *, log_globs: tuple[str, ...], stack_budget_pct: float) -> list[Source]:
    """Sources of the watched job; imported only for one."""
    from hwtop.collectors.flight.source import FlightSource
    from hwtop.collectors.host.cgroup import CgroupSource
    from hwtop.collectors.kernel.source import KernelLogSource
    from hwtop.collectors.logs.source import LogSource
    from hwtop.collectors.metrics.heartbeat import HeartbeatSource
    from hwtop.collectors.metrics.source import MetricsSource
    from hwtop.collectors.process.candidates import ProgramSource
    from hwtop.collectors.process.detail import DetailSource
    from hwtop.collectors.process.source import ProcessSource
    from hwtop.collectors.process.sudo import Sudo
    from hwtop.collectors.ras.source import RasSource
    from hwtop.collectors.stacks.deep_look import DeepSource
    from hwtop.collectors.stacks.source import StackSource

    sudo = Sudo()
    return [
        CgroupSource(pid=target_pid),
        ProcessSource(target_pid=target_pid),
        StackSource(budget_pct=stack_budget_pct, sudo=sudo),
        DeepSource(sudo=sudo),
        LogSource(globs=log_globs),
        KernelLogSource(),
        MetricsSource(),
        HeartbeatSource(),
        FlightSource(),
        RasSource(),
        DetailSource(),
        ProgramSource(),
    ]
