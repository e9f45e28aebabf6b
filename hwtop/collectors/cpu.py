"""The processor: /proc/stat, /proc/loadavg, /proc/pressure, cpufreq."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from hwtop.collectors.pressure import read_pressures
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.job.cpu_list import cpus_of
from hwtop.model.aim import Aim
from hwtop.model.cpu import CpuReading, CpuTimes

FREQUENCIES_PER_READ = 32
"""Kernels 4.13 to 5.17 may wait 10 ms for each core's frequency on x86 (aperfmperf_snapshot_cpu), so a read takes only
the next few cores; the others keep their last value."""

CPUINFO_EVERY_S = 30.0
"""/proc/cpuinfo is hundreds of kilobytes on a large machine and interrupts every core."""

_MODEL_NAME = re.compile(r"^(?:model name|cpu)\s*:\s*(\S.*)$", re.MULTILINE)  # x86, POWER
_MHZ = re.compile(r"^(?:processor\s*:\s*(\d+)|(?:cpu MHz|clock)\s*:\s*([\d.]+)(?:MHz)?)\s*$", re.MULTILINE)


class _Stat:
    """What is used of /proc/stat."""

    def __init__(self, text: str) -> None:
        self.total: CpuTimes | None = None
        self.cores: dict[int, CpuTimes] = {}
        self.numbers: dict[str, int] = {}
        for line in text.splitlines():
            if line.startswith("cpu"):
                name, *ticks = line.split()
                if name == "cpu":
                    self.total = _times(name, ticks)
                else:
                    self.cores[int(name[3:])] = _times(name, ticks)
            elif line.startswith(("ctxt ", "procs_")):
                name, _, value = line.partition(" ")
                self.numbers[name] = int(value)


class CpuSource:
    """Reads the whole machine's processor, also for a target that may use only a part of it (see `cgroup`)."""

    name = "cpu"
    every_s = 0.0

    def __init__(self, *, proc: str = "/proc", sys: str = "/sys", now: Callable[[], float] = time.monotonic) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now
        self._model_name: str | None = None
        self._knows_model = False
        self._mhz: dict[int, float] = {}
        self._next_core = 0
        self._has_cpufreq: bool | None = None
        self._cpuinfo_at_s: float | None = None
        self._freq_reason: str | None = None
        self._nodes_of: tuple[int, ...] | None = None
        self._nodes: tuple[int | None, ...] = ()

    def probe(self) -> str | None:
        """Why there is no /proc/stat to read, or None."""
        try:
            read_text(f"{self._proc}/stat")
        except OSError as error:
            return reason_of(error)
        return None

    def read(self) -> CpuReading:
        """The reading of now; `freq_mhz` is None for a core whose turn has not come yet (see FREQUENCIES_PER_READ).

        Raises:
            OSError: /proc/stat or /proc/loadavg cannot be read.
            ValueError: one of them is not what proc(5) says.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        stat = _parsed_stat(read_text(f"{self._proc}/stat"))
        assert stat.total is not None
        core_ids = tuple(stat.cores)
        self._read_frequencies(core_ids, at_s)
        if self._freq_reason is not None:
            missing["freq_mhz"] = self._freq_reason
        if not self._knows_model:
            self._model_name = self._read_model_name()
            self._knows_model = True
        if self._model_name is None:
            missing["model_name"] = f"{self._proc}/cpuinfo has no model name"
        return CpuReading(
            at_s=at_s,
            total=stat.total,
            cores=tuple(stat.cores.values()),
            core_ids=core_ids,
            core_nodes=self._core_nodes(core_ids),
            freq_mhz=tuple(self._mhz.get(core) for core in core_ids),
            load=_parsed_load(read_text(f"{self._proc}/loadavg")),
            running=stat.numbers["procs_running"],
            blocked=stat.numbers["procs_blocked"],
            context_switches=stat.numbers["ctxt"],
            psi=read_pressures({key: f"{self._proc}/pressure/{key}" for key in ("cpu", "io", "memory")}, missing),
            model_name=self._model_name,
            missing=missing,
        )

    def aim(self, aim: Aim) -> None:
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

    def _read_frequencies(self, core_ids: tuple[int, ...], at_s: float) -> None:
        if self._has_cpufreq is not False:
            start = self._next_core % len(core_ids)
            turn = (core_ids + core_ids)[start : start + min(FREQUENCIES_PER_READ, len(core_ids))]
            self._next_core = start + len(turn)
            answers = [self._read_cpufreq(core) for core in turn]
            if self._has_cpufreq is None:
                self._has_cpufreq = any(answers)
            if self._has_cpufreq:
                return
        if self._cpuinfo_at_s is None or at_s - self._cpuinfo_at_s >= CPUINFO_EVERY_S:
            self._cpuinfo_at_s = at_s
            self._read_cpuinfo_mhz()

    def _read_cpufreq(self, core: int) -> bool:
        try:
            khz = int(read_text(f"{self._sys}/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq"))
        except (OSError, ValueError):  # none in most virtual machines; "<unknown>" from a driver that cannot tell
            self._mhz.pop(core, None)
            return False
        self._mhz[core] = khz / 1000
        return True

    def _read_cpuinfo_mhz(self) -> None:
        self._mhz.clear()
        try:
            text = read_text(f"{self._proc}/cpuinfo")
        except OSError as error:
            self._freq_reason = reason_of(error)
            return
        core = -1
        for number, mhz in _MHZ.findall(text):
            if number:
                core = int(number)
            elif core >= 0:
                self._mhz[core] = float(mhz)
        self._freq_reason = None if self._mhz else f"no cpufreq, and {self._proc}/cpuinfo tells no MHz"

    def _read_model_name(self) -> str | None:
        try:
            with open(f"{self._proc}/cpuinfo", encoding="utf-8", errors="replace") as file:
                head = file.read(8192)  # the first core is enough
        except OSError:
            return None
        match = _MODEL_NAME.search(head)
        return match[1].strip() if match else None


def _parsed_stat(text: str) -> _Stat:
    try:
        stat = _Stat(text)
    except ValueError as error:
        raise ValueError(f"/proc/stat: {error}") from error
    wanted = {"ctxt", "procs_running", "procs_blocked"}
    if stat.total is None or not stat.cores or not wanted <= stat.numbers.keys():
        raise ValueError("/proc/stat: cut short")
    return stat


def _times(name: str, ticks: list[str]) -> CpuTimes:
    if len(ticks) < 8:
        raise ValueError(f"line {name!r} has {len(ticks)} numbers instead of 8 or more")
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, ticks[:8])
    return CpuTimes(
        user=user, nice=nice, system=system, idle=idle, iowait=iowait, irq=irq, softirq=softirq, steal=steal
    )


def _parsed_load(text: str) -> tuple[float, float, float]:
    try:
        one, five, fifteen = map(float, text.split()[:3])
    except ValueError as error:
        raise ValueError(f"/proc/loadavg: not three load averages: {text.strip()[:80]!r}") from error
    return one, five, fifteen
