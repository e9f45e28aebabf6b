"""Is it the machine: what each part of the host says of itself now, and which findings are about it. Pure.

Marks are of this moment and only tell where to look; what is proven are the findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hwtop.model.cpu import CpuRates
from hwtop.model.disk import DiskRates, MountReading
from hwtop.model.frame import Frame, Moment
from hwtop.model.network import NicRates
from hwtop.model.symptom import Finding
from hwtop.ui import marks, units
from hwtop.ui.view import View

FULL = (90.0, 97.0)
"""Percent from which on memory, swap, a limit, a file system or its inodes are nearly full, and full; engineering default."""
BUSY = (80.0, 95.0)
"""Percent of the time a disk is busy."""
LINK = (70.0, 90.0)
"""Percent of a link's speed."""
STALLED = (20.0, 50.0)
"""Percent of the time in which some task was stalled for I/O or memory (PSI), and of iowait."""
STOLEN = (5.0, 20.0)
"""Percent of the time that the hypervisor gave to others."""
THROTTLED = (5.0, 25.0)
"""Percent of the periods at the CPU limit."""
RESENT = (0.5, 2.0)
"""Percent of the TCP segments."""
QUEUED = 120.0
"""Load, percent of the cores; as with full cores worth a look, not an alarm; engineering default."""
CPU_FULL = 95.0
"""Busy cores are what a job pays for: full is worth a look, not an alarm."""

ABOUT = frozenset(
    {
        "cgroup-throttled",
        "clock-skew",
        "cpu-oversubscribed",
        "cpu-thermal-throttle",
        "disk-full",
        "disk-nearly-full",
        "disk-saturated",
        "fd-leak",
        "filesystem-hang",
        "host-memory-leak",
        "host-oom-kill",
        "input-bound-io",
        "network-retransmits",
        "network-saturated",
        "numa-misplaced",
        "page-cache-thrash",
        "process-limit",
        "rdma-errors",
        "shm-full",
        "shm-nearly-full",
        "swapping",
        "too-many-open-files",
    }
)
"""Symptoms whose cause lies in the host."""


@dataclass(frozen=True)
class Part:
    """One part of the host in a word."""

    name: str
    role: str
    """ "good", "warn", "bad", or "dim" where it is not known."""
    words: str

    @property
    def glyph(self) -> str:
        """Colour is never alone."""
        return {"good": "✔", "warn": "▲", "bad": "✖"}.get(self.role, "◌")


_LATELY = 60
"""Newest moments in which a virtual interface must have carried something, so that rows do not come and go."""
_WEIGHT = {"bad": 3, "warn": 2, "good": 1}


def findings(view: View) -> list[Finding]:
    """Those about the machine."""
    return [finding for finding in view.frame.findings if finding.symptom in ABOUT]


def parts(view: View) -> list[Part]:
    """Each part of the host with the worst that it says, in the order of the page."""
    moment = view.frame.moment
    told = (
        ("CPU", _cpu(moment)),
        ("memory", _memory(moment)),
        ("disks", _disks(moment)),
        ("mounts", _mounts(moment)),
        ("network", _network(view.frame)),
        ("pressure", _pressure(moment)),
    )
    return [_worst(name, list(facts)) for name, facts in told]


def _worst(name: str, facts: list[tuple[str, str]]) -> Part:
    role, words = max(facts, key=lambda fact: _WEIGHT.get(fact[0], 0), default=("dim", "not seen"))
    return Part(name, role, words)


def _cpu(moment: Moment) -> Iterator[tuple[str, str]]:
    cpu, cgroup = moment.cpu, moment.cgroup
    if cpu is None or cpu.util_pct is None:
        return
    yield "warn" if cpu.util_pct >= CPU_FULL else "good", f"{units.pct(cpu.util_pct)} busy"
    if queued_pct(cpu, moment.cores) >= QUEUED:
        yield "warn", f"load {cpu.load[0]:.1f} on {moment.cores:g}"
    yield marks.high(cpu.steal_pct, *STOLEN)[0], f"{units.pct(cpu.steal_pct)} stolen"
    yield marks.high(cpu.iowait_pct, *STALLED)[0], f"{units.pct(cpu.iowait_pct)} waits for disk"
    if cgroup is not None:
        share = cgroup.throttled_periods_pct
        yield marks.high(share, *THROTTLED)[0], f"{units.pct(share)} of the periods at the limit"


def queued_pct(cpu: CpuRates, cores: float) -> float:
    """What wants to run, percent of the cores that it may use."""
    return cpu.load[0] / max(1.0, cores) * 100


def _memory(moment: Moment) -> Iterator[tuple[str, str]]:
    memory = moment.memory
    if memory is None:
        return
    used = share(memory.used_bytes, memory.total_bytes)
    yield marks.high(used, *FULL)[0], f"{units.pct(used)} used"
    if memory.swap_in_pages_per_s:
        yield "warn", f"swaps in {memory.swap_in_pages_per_s:,.0f} pages/s"
    if moment.cgroup is not None and moment.cgroup.oom_kills_new:
        yield "bad", f"{moment.cgroup.oom_kills_new} killed for memory"
    held = share(held_bytes(moment), moment.cgroup.mem_limit_bytes if moment.cgroup else None)
    yield marks.high(held, *FULL)[0], f"{units.pct(held)} of the job's limit"


def held_bytes(moment: Moment) -> int | None:
    """What the job's cgroup holds without page cache: the kernel gives that back under pressure."""
    cgroup = moment.cgroup
    if cgroup is None or cgroup.mem_used_bytes is None:
        return None
    return max(0, cgroup.mem_used_bytes - (cgroup.mem_cache_bytes or 0))


def _disks(moment: Moment) -> Iterator[tuple[str, str]]:
    for disk in sorted(moment.disks, key=lambda disk: -(disk.busy_pct or 0)):
        if disk.busy_pct is not None:
            yield marks.high(disk.busy_pct, *BUSY)[0], f"{disk.name} {units.pct(disk.busy_pct)} busy"


def _mounts(moment: Moment) -> Iterator[tuple[str, str]]:
    for mount in mounts(moment):
        if mount.reason:
            yield "bad", f"{mount.mount_point} {mount.reason}"
        elif (fill := share(mount.used_bytes, mount.total_bytes)) is not None:
            yield marks.high(fill, *FULL)[0], f"{mount.mount_point} {units.pct(fill)} full"
            yield marks.high(mount.inodes_used_pct, *FULL)[0], f"{mount.mount_point} out of inodes"


def _network(frame: Frame) -> Iterator[tuple[str, str]]:
    network = frame.moment.network
    if network is None:
        return
    resent = network.tcp_retransmit_pct
    if resent is not None:
        yield marks.high(resent, *RESENT)[0], f"{resent:.1f}% of TCP sent again"
    for nic in nics(frame):
        if (use := link_use(nic)) is not None:
            yield marks.high(use, *LINK)[0], f"{nic.name} {units.pct(use)} of its speed"
        if nic.errors_per_s is None or nic.drops_per_s is None:
            continue
        bad = nic.errors_per_s + nic.drops_per_s
        yield ("warn", f"{nic.name} loses {bad:.1f} packets/s") if bad else ("good", "no packet lost")


def _pressure(moment: Moment) -> Iterator[tuple[str, str]]:
    psi = moment.cpu.psi if moment.cpu else {}
    told = [(name, each.some.avg10_pct) for name, each in psi.items() if each.some is not None]
    for name, stalled in sorted(told, key=lambda item: -item[1]):
        yield marks.high(stalled, *stall_limits(name))[0], f"{name} {units.pct(stalled)}"


def stall_limits(resource: str) -> tuple[float, float]:
    """Tasks that wait for a core are what a full machine looks like: never more than worth a look."""
    return (STALLED[0], 101.0) if resource == "cpu" else STALLED


def disks(moment: Moment) -> list[DiskRates]:
    """By name: rows that change places with each look cannot be read."""
    return sorted(moment.disks, key=lambda disk: disk.name)


def mounts(moment: Moment) -> list[MountReading]:
    """Those that do not answer, then by fill."""
    return sorted(
        moment.mounts,
        key=lambda mount: (mount.reason is None, -(share(mount.used_bytes, mount.total_bytes) or 0), mount.mount_point),
    )


def nics(frame: Frame) -> list[NicRates]:
    """Real ones by name, then virtual ones that carried something of late."""
    known = frame.moment.network.nics if frame.moment.network else ()
    lately = [moment.network.nics for moment in frame.history[-_LATELY:] if moment.network]
    carried = {nic.name for of_moment in lately for nic in of_moment if traffic(nic)}
    shown = [nic for nic in known if not nic.is_virtual or nic.name in carried]
    return sorted(shown, key=lambda nic: (nic.is_virtual, nic.name))


def traffic(nic: NicRates) -> float:
    """Bytes a second in both directions."""
    return (nic.rx_bytes_per_s or 0) + (nic.tx_bytes_per_s or 0)


def link_use(nic: NicRates) -> float | None:
    """Percent of its speed in the busier direction."""
    if not nic.link_mbit_per_s or nic.rx_bytes_per_s is None or nic.tx_bytes_per_s is None:
        return None
    return max(nic.rx_bytes_per_s, nic.tx_bytes_per_s) * 8 / (nic.link_mbit_per_s * 1e6) * 100


def share(used: float | None, total: float | None) -> float | None:
    """Percent."""
    return None if used is None or not total else used / total * 100


def reason(view: View, source: str) -> str:
    """Why there are no numbers of this source."""
    for status in view.frame.moment.sources:
        if status.name == source and status.reason:
            return status.reason
    return "no numbers yet"


def sentence(view: View) -> str:
    """The machine in one line, for the clipboard."""
    about = findings(view)
    told = "; ".join(finding.title for finding in about) or "nothing about the machine is proven"
    return f"{view.frame.moment.host}: {told} ({', '.join(f'{part.name}: {part.words}' for part in parts(view))})"
