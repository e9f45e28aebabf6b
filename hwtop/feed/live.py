"""The live source: this machine, one Snapshot a tick."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

from hwtop.collectors.candidates import CandidateSource
from hwtop.collectors.cgroup import CgroupSource
from hwtop.collectors.cpu import CpuSource
from hwtop.collectors.deep_look import DeepSource
from hwtop.collectors.disk import DiskSource
from hwtop.collectors.flight import FlightSource
from hwtop.collectors.gpu import GpuSource
from hwtop.collectors.gpu_nvidia import GpuNvidiaSource
from hwtop.collectors.heartbeat import HeartbeatSource
from hwtop.collectors.kernel_log import KernelLogSource
from hwtop.collectors.log import LogSource
from hwtop.collectors.memory import MemorySource
from hwtop.collectors.network import NetworkSource
from hwtop.collectors.process import ProcessSource
from hwtop.collectors.process_detail import DetailSource
from hwtop.collectors.sampler import Sampler
from hwtop.collectors.source import Source
from hwtop.collectors.stack import StackSource
from hwtop.collectors.witness import WitnessSource
from hwtop.model.aim import Aim
from hwtop.model.snapshot import Snapshot

_FIRST_TICKS_S = 0.4
"""Distance of the first ticks, so that rates and stacks are there within a second."""
_FIRST_TICKS = 3
LIVE_STACK_BUDGET_PCT = 1.0
"""Share of one core for stacks while somebody watches, for hours perhaps."""


class LiveSource:
    """Iterates over snapshots of this machine until closed. The clock is kept: a late tick shortens the next wait."""

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
        """Seconds from tick to tick. May be set from any thread; the wait that is under way ends by the new one."""
        return self._sampler.interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        self._sampler.interval_s = seconds
        self._woken.set()

    def _wait(self, last_s: float, *, is_first: bool) -> float:
        """Until the tick after the one planned at `last_s`; returns when that is."""
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

    def aim(self, aim: Aim) -> None:
        """Look there from now on."""
        self._sampler.aim(aim)

    def close(self) -> None:
        """End the iteration and let the source threads go."""
        self._closing.set()
        self._woken.set()
        self._sampler.close()


def machine_sources(gpus: tuple[int, ...] | None, *, costs: bool = False) -> list[Source]:
    """What is read of any machine; with `costs` also what each call into NVML costs."""
    nvidia = GpuNvidiaSource(only=gpus, costs=costs)
    return [CpuSource(), MemorySource(), DiskSource(), NetworkSource(), GpuSource(only=gpus, nvidia=nvidia)]


def job_sources(target_pid: int, *, log_globs: tuple[str, ...], stack_budget_pct: float) -> list[Source]:
    """What is read of the watched job."""
    return [
        CgroupSource(pid=target_pid),
        ProcessSource(target_pid=target_pid),
        StackSource(budget_pct=stack_budget_pct),
        DeepSource(),
        LogSource(globs=log_globs),
        KernelLogSource(),
        WitnessSource(),
        HeartbeatSource(),
        FlightSource(),
        DetailSource(),
    ]
