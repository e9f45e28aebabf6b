"""Fields of the host: processor, memory, the limits of the job's cgroup, TCP; and of one core."""

from __future__ import annotations

from collections.abc import Callable

from hwtop.fields import units
from hwtop.fields.field import Field, Subject
from hwtop.fields.level import ANY, Level
from hwtop.fields.ratio import percent
from hwtop.model.frame import DerivedState
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CoreRates, CpuRates
from hwtop.model.host.memory import MemoryRates

_FULL = Level(warning=90, critical=97)
"""Memory that is nearly full, and full; engineering default."""
_BUSY = Level(warning=95)
"""Busy cores are what a job pays for: full is worth a look, not an alarm."""
_WAITS = Level(warning=20, critical=50)
"""Share of the time that goes into waiting; engineering default."""
Number = Callable[[DerivedState], float | None]
Host = Field[DerivedState]


def _cpu(value: Callable[[CpuRates], float | None]) -> Number:
    return lambda derived: value(derived.cpu) if derived.cpu else None


def _memory(value: Callable[[MemoryRates], float | None]) -> Number:
    return lambda derived: value(derived.memory) if derived.memory else None


def _cgroup(value: Callable[[CgroupRates], float | None]) -> Number:
    return lambda derived: value(derived.cgroup) if derived.cgroup else None


def _load_per_core(derived: DerivedState) -> float | None:
    """Of the cores that may be used."""
    return None if derived.cpu is None else derived.cpu.load[0] / max(1.0, derived.cores)


def held_bytes(derived: DerivedState) -> int | None:
    """What the job's cgroup holds without page cache: the kernel gives that back under pressure."""
    cgroup = derived.cgroup
    if cgroup is None or cgroup.mem_used_bytes is None:
        return None
    return max(0, cgroup.mem_used_bytes - (cgroup.mem_cache_bytes or 0))


def shared_memory(derived: DerivedState) -> tuple[int | None, int | None]:
    """Used and total bytes of /dev/shm."""
    mount = next((mount for mount in derived.mounts if mount.mount_point == "/dev/shm"), None)
    return (mount.used_bytes, mount.total_bytes) if mount else (None, None)


def _stalled(resource: str) -> Number:
    def value(derived: DerivedState) -> float | None:
        found = derived.cpu.psi.get(resource) if derived.cpu else None
        return found.some.avg10_pct if found and found.some else None

    return value


def _pct(name: str, title: str, about: str, value: Number, own: Level | None = None, json: str = "") -> Host:
    return Field(id=name, about=about, kind="percent", value=value, title=title, own_level=own, json=json)


def _bytes(name: str, title: str, about: str, value: Number, json: str = "") -> Host:
    return Field(id=name, about=about, kind="bytes", value=value, title=title, json=json)


def _rate(name: str, title: str, about: str, value: Number, json: str) -> Host:
    return Field(
        id=name, about=about, kind="count", unit="1/s", format=units.times_per_s, value=value, title=title, json=json
    )


CPU = _pct("cpu.util_pct", "busy", "busy share of all cores", _cpu(lambda cpu: cpu.util_pct), _BUSY, "cpu.util_pct")
USER = _pct("cpu.user_pct", "user", "time in programs", _cpu(lambda cpu: cpu.user_pct), json="cpu.user_pct")
SYSTEM = _pct("cpu.system_pct", "system", "time in the kernel", _cpu(lambda cpu: cpu.system_pct), json="cpu.system_pct")
IOWAIT = _pct(
    "cpu.iowait_pct",
    "iowait",
    "idle time with I/O under way",
    _cpu(lambda cpu: cpu.iowait_pct),
    _WAITS,
    "cpu.iowait_pct",
)
STEAL = _pct(
    "cpu.steal_pct",
    "steal",
    "time that the hypervisor gave to other virtual machines",
    _cpu(lambda cpu: cpu.steal_pct),
    json="cpu.steal_pct",
)
LOAD: Host = Field(
    id="cpu.load",
    about="load average of 1 min",
    kind="count",
    format=lambda load: units.UNKNOWN if load is None else f"{load:.1f}",
    value=_cpu(lambda cpu: cpu.load[0]),
    title="load",
)
LOAD_PER_CORE: Host = Field(
    id="cpu.load_per_core",
    about="load average, for each core that may be used",
    kind="count",
    format=lambda load: units.UNKNOWN if load is None else f"{load:.2f}",
    value=_load_per_core,
    title="load per core",
)
RUNNABLE: Host = Field(
    id="cpu.running",
    about="runnable tasks now",
    kind="count",
    format=units.number,
    value=_cpu(lambda cpu: cpu.running),
    title="runnable",
    json="cpu.running",
)
BLOCKED: Host = Field(
    id="cpu.blocked",
    about="tasks in uninterruptible sleep now",
    kind="count",
    format=units.number,
    value=_cpu(lambda cpu: cpu.blocked),
    title="blocked",
    own_level=ANY,
    json="cpu.blocked",
)
FREQUENCY: Host = Field(
    id="cpu.freq_mhz",
    about="clock, mean of the cores that report one",
    kind="count",
    unit="MHz",
    format=units.ghz,
    value=_cpu(lambda cpu: cpu.freq_mhz),
    title="clock",
    json="cpu.freq_mhz",
)
SWITCHES = _rate(
    "cpu.context_switches_per_s",
    "switches",
    "context switches a second",
    _cpu(lambda cpu: cpu.context_switches_per_s),
    "cpu.context_switches_per_s",
)
PRESSURE: dict[str, Host] = {
    resource: _pct(
        f"cpu.psi_{resource}_pct",
        f"stalled, {resource}",
        f"time in which some task waited for {what} (PSI, 10 s)",
        _stalled(resource),
        _WAITS if resource == "memory" else None,
        f"cpu.psi.{resource}.some.avg10_pct",
    )
    for resource, what in (("cpu", "a core"), ("io", "I/O"), ("memory", "memory"))
}
MEMORY = _pct(
    "memory.used_pct",
    "used",
    "memory that programs cannot get without swapping",
    _memory(lambda memory: percent(memory.used_bytes, memory.total_bytes)),
    _FULL,
)
SHM = _pct("memory.shm_used_pct", "/dev/shm", "shared memory in use", lambda derived: percent(*shared_memory(derived)))
SWAP = _pct(
    "memory.swap_used_pct",
    "swap",
    "swap in use",
    _memory(lambda memory: percent(memory.swap_used_bytes, memory.swap_total_bytes)),
    _FULL,
)
CACHED = _bytes(
    "memory.cached_bytes",
    "cache",
    "page cache and reclaimable kernel memory",
    _memory(lambda memory: memory.cached_bytes),
    "memory.cached_bytes",
)
DIRTY = _bytes(
    "memory.dirty_bytes",
    "dirty",
    "pages that wait to be written",
    _memory(lambda memory: memory.dirty_bytes),
    "memory.dirty_bytes",
)
SHARED = _bytes(
    "memory.shmem_bytes",
    "shared",
    "shared memory and tmpfs",
    _memory(lambda memory: memory.shmem_bytes),
    "memory.shmem_bytes",
)
SWAP_IN = _rate(
    "memory.swap_in_pages_per_s",
    "swap in",
    "pages read back from swap a second",
    _memory(lambda memory: memory.swap_in_pages_per_s),
    "memory.swap_in_pages_per_s",
)
SWAP_OUT = _rate(
    "memory.swap_out_pages_per_s",
    "out",
    "pages written to swap a second",
    _memory(lambda memory: memory.swap_out_pages_per_s),
    "memory.swap_out_pages_per_s",
)
MAJOR_FAULTS = _rate(
    "memory.major_faults_per_s",
    "major faults",
    "page faults that had to read a disk, a second",
    _memory(lambda memory: memory.major_faults_per_s),
    "memory.major_faults_per_s",
)
QUOTA: Host = Field(
    id="cgroup.cpu_quota_cores",
    about="CPU limit of the job's cgroup, in cores",
    kind="count",
    unit="cores",
    format=lambda cores: units.UNKNOWN if cores is None else f"{cores:g}",
    value=_cgroup(lambda cgroup: cgroup.cpu_quota_cores),
    title="CPU limit",
    json="cgroup.cpu_quota_cores",
)
THROTTLED = _pct(
    "cgroup.throttled_periods_pct",
    "throttled",
    "scheduler periods in which the job was out of CPU quota",
    _cgroup(lambda cgroup: cgroup.throttled_periods_pct),
    json="cgroup.throttled_periods_pct",
)
HELD = _pct(
    "cgroup.mem_used_pct",
    "memory",
    "memory of the job without page cache, of its limit",
    lambda derived: percent(held_bytes(derived), derived.cgroup.mem_limit_bytes if derived.cgroup else None),
    _FULL,
)
KILLED: Host = Field(
    id="cgroup.oom_kills_new",
    about="processes of the job killed for memory in the last interval",
    kind="count",
    format=units.number,
    value=_cgroup(lambda cgroup: cgroup.oom_kills_new),
    title="killed for memory",
    own_level=Level(critical=1),
    json="cgroup.oom_kills_new",
)
RETRANSMITS: Host = Field(
    id="network.tcp_retransmit_pct",
    about="share of TCP segments that are retransmits",
    kind="percent",
    format=units.fine_pct,
    value=lambda derived: derived.network.tcp_retransmit_pct if derived.network else None,
    title="TCP retransmits",
    json="network.tcp_retransmit_pct",
)
CORE: Field[CoreRates] = Field(
    id="core.util_pct",
    about="busy share of one core",
    kind="percent",
    value=lambda core: core.util_pct,
    title="core",
    own_level=_BUSY,
    json="util_pct",
)

HOST = Subject(
    name="host",
    title="Host",
    rows=lambda frame: (frame.derived,),
    json="",
    fields=(
        CPU,
        USER,
        SYSTEM,
        IOWAIT,
        STEAL,
        LOAD,
        LOAD_PER_CORE,
        RUNNABLE,
        BLOCKED,
        FREQUENCY,
        SWITCHES,
        *PRESSURE.values(),
        MEMORY,
        SHM,
        SWAP,
        CACHED,
        DIRTY,
        SHARED,
        SWAP_IN,
        SWAP_OUT,
        MAJOR_FAULTS,
        QUOTA,
        THROTTLED,
        HELD,
        KILLED,
        RETRANSMITS,
    ),
)
CORES = Subject(
    name="core",
    title="Cores",
    rows=lambda frame: frame.derived.cpu.cores if frame.derived.cpu else (),
    json="cpu.cores",
    labels={"core": lambda core: core.number},
    fields=(CORE,),
)
