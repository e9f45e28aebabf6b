"""The processor: times, load and frequencies from psutil; tasks and pressure from /proc."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil

from hwtop.collectors.host.pressure import read_pressures
from hwtop.collectors.host.system import CLOCK_TICKS_PER_S, System
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.job.cpu_list import cpus_of
from hwtop.model.host.cpu import CpuReading, CpuTimes
from hwtop.model.plan import SamplingPlan

FREQUENCIES_EVERY_S = 10.0
"""psutil reads all of /proc/cpuinfo and three files a clock: hundreds of kilobytes on a large machine, and kernels before 5.18
interrupt every core for it."""

_MODEL_NAME = re.compile(r"^(?:model name|cpu)\s*:\s*(\S.*)$", re.MULTILINE)  # x86, POWER
_CORE = re.compile(r"^cpu(\d+) ", re.MULTILINE)
_TASKS = re.compile(r"^(ctxt|procs_running|procs_blocked) (\d+)$", re.MULTILINE)


class _Stat(NamedTuple):
    """What psutil does not report: tasks, and the numbers of the cores. The totals come with them.

    psutil reads the whole file for each of its three functions, which costs twice as much (bench/psutil_cost.py).
    """

    total: CpuTimes
    core_ids: tuple[int, ...]
    context_switches: int
    running: int | None
    blocked: int | None


class CpuSource:
    """Reads the whole machine's processor, also for a target that may use only a part of it (see `cgroup`)."""

    name = "cpu"
    every_s = 0.0

    def __init__(
        self,
        *,
        proc: str = "/proc",
        sys: str = "/sys",
        now: Callable[[], float] = time.monotonic,
        system: System = psutil,
    ) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._system = system
        self._model_name: str | None = None
        self._knows_model = False
        self._mhz: tuple[float | None, ...] = ()
        self._mhz_at_s: float | None = None
        self._mhz_reason: str | None = None
        self._nodes_of: tuple[int, ...] | None = None
        self._nodes: tuple[int | None, ...] = ()

    def probe(self) -> str | None:
        """Why the times of the processor cannot be read, or None."""
        try:
            self._system.cpu_times(percpu=True)
        except OSError as error:
            return reason_of(error)
        return None

    def read(self) -> CpuReading:
        """The reading of now.

        Raises:
            OSError: psutil cannot read the times of the processor.
            ValueError: /proc/stat is not what proc(5) says, or a core came or went during the reading.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        cores = tuple(map(_ticks, self._system.cpu_times(percpu=True)))
        stat = self._read_stat(cores, missing)
        if len(stat.core_ids) != len(cores):
            raise ValueError("a core went online or offline during the reading")
        self._read_frequencies(len(cores), at_s)
        if self._mhz_reason is not None:
            missing["freq_mhz"] = self._mhz_reason
        if not self._knows_model:
            self._model_name = self._read_model_name()
            self._knows_model = True
        if self._model_name is None:
            missing["model_name"] = f"no model name in {self._proc}/cpuinfo"
        return CpuReading(
            at_s=at_s,
            total=stat.total,
            cores=cores,
            core_ids=stat.core_ids,
            core_nodes=self._core_nodes(stat.core_ids),
            freq_mhz=self._mhz,
            load=self._system.getloadavg(),
            running=stat.running,
            blocked=stat.blocked,
            context_switches=stat.context_switches,
            psi=read_pressures({key: f"{self._proc}/pressure/{key}" for key in ("cpu", "io", "memory")}, missing),
            model_name=self._model_name,
            missing=missing,
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """The processor is the same for every job."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _core_nodes(self, core_ids: tuple[int, ...]) -> tuple[int | None, ...]:
        """Read once, and again when cores came or went."""
        if self._nodes_of != core_ids:
            self._nodes_of = core_ids
            known = self._read_nodes()
            self._nodes = tuple(known.get(core) for core in core_ids) if known else ()
        return self._nodes

    def _read_nodes(self) -> dict[int, int]:
        """Core -> node, of Documentation/ABI/stable/sysfs-devices-node."""
        folder = f"{self._sys}/devices/system/node"
        try:
            online = sorted(cpus_of(read_text(f"{folder}/online")))
            return {cpu: node for node in online for cpu in cpus_of(read_text(f"{folder}/node{node}/cpulist"))}
        except OSError:  # a kernel without NUMA: all cores are alike
            return {}

    def _read_stat(self, cores: tuple[CpuTimes, ...], missing: dict[str, str]) -> _Stat:
        path = f"{self._proc}/stat"
        try:
            return parsed_stat(read_text(path))
        except FileNotFoundError as error:  # no Linux
            missing["running"] = missing["blocked"] = reason_of(error)
        return _Stat(_sum(cores), tuple(range(len(cores))), self._system.cpu_stats().ctx_switches, None, None)

    def _read_frequencies(self, core_count: int, at_s: float) -> None:
        """Where cores share a clock there are fewer frequencies than cores: None for the cores without one of their own."""
        if self._mhz_at_s is not None and at_s - self._mhz_at_s < FREQUENCIES_EVERY_S and len(self._mhz) == core_count:
            return
        self._mhz_at_s = at_s
        try:
            clocks = self._system.cpu_freq(percpu=True)[:core_count]
            found = [clock.current if clock.current > 0 else None for clock in clocks]
        except (OSError, RuntimeError, ValueError) as error:
            found, self._mhz_reason = [], reason_of(error)
        else:
            self._mhz_reason = None if any(found) else "no frequency reported for any core"
        self._mhz = (*found, *[None] * (core_count - len(found)))

    def _read_model_name(self) -> str | None:
        """psutil reports none."""
        try:
            with open(f"{self._proc}/cpuinfo", encoding="utf-8", errors="replace") as file:
                head = file.read(8192)  # the first core is enough
        except OSError:
            return None
        match = _MODEL_NAME.search(head)
        return match[1].strip() if match else None


def parsed_stat(text: str) -> _Stat:
    """Of the text of /proc/stat.

    Raises:
        ValueError: not what proc(5) says.
    """
    numbers = {name: int(value) for name, value in _TASKS.findall(text)}
    first = text.partition("\n")[0].split()
    if len(numbers) < 3 or first[:1] != ["cpu"] or len(first) < 9 or not all(map(str.isdecimal, first[1:9])):
        raise ValueError("/proc/stat: cut short or garbled")
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, first[1:9])
    return _Stat(
        total=CpuTimes(
            user=user, nice=nice, system=system, idle=idle, iowait=iowait, irq=irq, softirq=softirq, steal=steal
        ),
        core_ids=tuple(map(int, _CORE.findall(text))),
        context_switches=numbers["ctxt"],
        running=numbers["procs_running"],
        blocked=numbers["procs_blocked"],
    )


def _ticks(times: Any) -> CpuTimes:
    """psutil divides the kernel's clock ticks by their rate. States that an operating system does not have are 0."""
    return CpuTimes(
        **{name: round(getattr(times, name, 0.0) * CLOCK_TICKS_PER_S) for name in CpuTimes.__struct_fields__}
    )


def _sum(cores: tuple[CpuTimes, ...]) -> CpuTimes:
    return CpuTimes(**{name: sum(getattr(core, name) for core in cores) for name in CpuTimes.__struct_fields__})
