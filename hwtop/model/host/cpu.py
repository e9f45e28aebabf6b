"""The processor: time counters, frequencies, load, pressure."""

from __future__ import annotations

from msgspec import Struct


class CpuTimes(Struct, frozen=True, gc=False, kw_only=True):
    """Clock ticks since boot, one line of /proc/stat (proc(5)). Guest time is inside `user` and `nice`."""

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int


class PressureLine(Struct, frozen=True, gc=False, kw_only=True):
    """One line of a PSI file: share of the time in which tasks were stalled (Documentation/accounting/psi.rst)."""

    avg10_pct: float
    avg60_pct: float
    avg300_pct: float
    total_us: int


class Pressure(Struct, frozen=True, gc=False, kw_only=True):
    """PSI of one resource: `some` = at least one task stalled, `full` = all of them."""

    some: PressureLine | None = None
    full: PressureLine | None = None


class CpuReading(Struct, frozen=True, gc=False, kw_only=True):
    """Times, frequencies, load and pressure."""

    at_s: float
    total: CpuTimes
    cores: tuple[CpuTimes, ...]
    freq_mhz: tuple[float | None, ...]
    load: tuple[float, float, float]
    running: int | None
    """Runnable tasks now (procs_running); None where this is not Linux."""
    blocked: int | None
    """Tasks in uninterruptible sleep now (procs_blocked)."""
    context_switches: int
    psi: dict[str, Pressure]
    """Keys "cpu", "io", "memory"; a key is absent where the kernel has no PSI (see `missing`)."""
    model_name: str | None = None
    core_ids: tuple[int, ...] = ()
    """The kernel's number of each entry of `cores`: cores that are offline leave gaps."""
    core_nodes: tuple[int | None, ...] = ()
    """NUMA node of each entry of `cores`; empty where the kernel reports none."""
    missing: dict[str, str] = {}


class CoreRates(Struct, frozen=True, gc=False, kw_only=True):
    """How one core (or all of them together) spent the interval, percent of its time."""

    util_pct: float
    iowait_pct: float
    steal_pct: float
    number: int | None = None
    """The kernel's number of the core."""
    node: int | None = None
    """Its NUMA node."""


class CpuRates(Struct, frozen=True, gc=False, kw_only=True):
    """The processor over one interval."""

    util_pct: float | None
    """Busy share of all cores together: everything but idle and iowait."""
    user_pct: float | None
    system_pct: float | None
    iowait_pct: float | None
    steal_pct: float | None
    cores: tuple[CoreRates, ...]
    """Those with a rate, by number: a core that has just come online is left out for one interval."""
    context_switches_per_s: float | None
    count: int
    """Logical cores that are online."""
    freq_mhz: float | None
    """Mean over the cores that report one."""
    load: tuple[float, float, float]
    running: int | None
    blocked: int | None
    psi: dict[str, Pressure]
