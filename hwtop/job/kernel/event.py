"""What a line of the kernel's log has to do with the job: whose process, GPU, disk, file server or link it is about.

The kernel speaks for everybody on the machine. An event counts only if it is about a process of the job, about something that
the job uses, or about the whole machine; what other users' processes do to themselves is nobody else's business.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.kernel.mount_use import lies_on, nfs_server
from hwtop.job.kernel.oom_report import OomKill
from hwtop.job.rank_set import named
from hwtop.job.size import size
from hwtop.lazy_regex import lazy_regex
from hwtop.model.gpu.device import Gpu
from hwtop.model.host.disk import MountReading
from hwtop.model.member import ProcessRole
from hwtop.model.reported.log import LogEvent, Severity

PATH = "kernel log"
"""Stands where the path of a file stands in events and lines of log files."""
CLOCKS_S = 2.0
"""The kernel's stamps may be off by so much: its clock is not steered, and the start of a process is known to ticks."""
GONE_S = 30.0
"""A process may be told of for so long after it was last seen; then its PID may be another's. Engineering default."""
NOTICED_S = 6.0
"""A rank that died is seen dead within so long: the processes are read at each tick, a launcher looks every few seconds."""
CRASHES = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE, -signal.SIGTRAP)
"""Exit codes of processes that the kernel ended for what they did."""
_BUS = lazy_regex(r"\b(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?\b", re.IGNORECASE)
_OF_GPU = (
    "xid",
    "gpu-lost",
    "gpu-driver-hang",
    "ecc-error",
    "row-remap-pending",
    "nvlink-errors",
    "illegal-memory-access",
)
_JOURNAL_THREAD = lazy_regex(r"^(?:jbd2|xfsaild|xfs-\w+|f2fs_\w+|btrfs-\w+)/([\w!-]+?)(?:-\d+)?$")
_OF_PROCESS = ("segfault", "filesystem-hang", "ecc-error")
_OF_MACHINE = ("ecc-error", "too-many-open-files")
_UNCORRECTED = lazy_regex(
    r"\b\d+ UE\b|uncorrect|machine check exception|severity: (?:fatal|recoverable)|hardware memory corruption",
    re.IGNORECASE,
)


class Owner(Struct, frozen=True, kw_only=True):
    """A process of the job."""

    pid: int
    role: ProcessRole
    rank: int | None
    from_s: float
    """When it started, on the clock of the snapshots."""
    to_s: float
    """When it was last seen."""


class Surroundings(Struct, frozen=True, kw_only=True):
    """The job's part of this machine."""

    since_s: float
    """When the oldest of its ranks started: what happened before belongs to another run."""
    owners: Mapping[int, Owner]
    """PIDs and thread ids, also of those that have just gone; empty where the kernel's PIDs are others."""
    crashed: Mapping[int, float] = {}
    """PIDs of ranks that died of a signal that the processor raised -> when they were first seen dead."""
    cgroups: frozenset[str] = frozenset()
    gpus: Sequence[Gpu] | None = ()
    """Empty where they cannot be read, None while it is too early to tell."""
    gpu_ranks: Mapping[int, tuple[int, ...]] = {}
    """GPU index -> ranks that use it."""
    mounts: Sequence[MountReading] = ()
    """Those on which the job has its programs, its working directory or files."""
    block_devices: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, str] = {}
    nics: Mapping[str, bool | None] | None = None
    """Interface with hardware behind it -> is it up; None where they are not known."""


def of_kill(kill: OomKill, is_past: bool, around: Surroundings) -> LogEvent | None:
    """The event of an OOM kill, if the job has to do with it: a process of it, the limit it runs under, or a full machine."""
    owner = _owner(kill.pid, kill.at_s, around)
    is_its_limit = kill.limit_cgroup is not None and any(_is_below(path, kill.limit_cgroup) for path in around.cgroups)
    if owner is None and not is_its_limit and not kill.is_global:
        return None
    whose = f"{_whose(owner)} ({kill.task}, PID {kill.pid})" if owner else f"process {kill.pid} ({kill.task})"
    reported = f"{whose} was killed by the kernel: {_full(kill)}"
    had = kill.resident_bytes
    is_ours = owner is not None or is_its_limit
    return LogEvent(
        pattern="host-oom-kill",
        severity="critical" if is_ours else "warning",
        role="root",
        path=PATH,
        line_no=None,
        text=kill.text,
        at_s=kill.at_s,
        is_past=is_past,
        explanation=reported[0].upper() + reported[1:] + (f"; it used {size(had)}" if had else "") + ".",
        rank=owner.rank if owner else None,
        groups=kill.groups(),
        title=reported[0].upper() + reported[1:],
    )


def of_job(event: LogEvent, around: Surroundings) -> LogEvent | None:
    """The event with the rank it is about and a sentence that says why; None where the job has nothing to do with it."""
    if event.role == "context":
        return None
    groups = event.groups
    if event.pattern in _OF_GPU and (event.xid is not None or "NVRM" in event.text or "nvidia" in event.text.lower()):
        return _of_gpu(event, around)
    if event.pattern == "ecc-error" and not _UNCORRECTED.search(event.text):
        return None  # occasional corrected errors are normal
    if "pid" in groups and event.pattern in _OF_PROCESS:
        return _of_process(event, around)
    if (device := groups.get("device") or groups.get("journal")) is not None:
        return _of_disk(event, device, around)
    if event.pattern == "cpu-thermal-throttle":
        return replace(event, severity="info")  # the hottest core for a moment: the clocks show what it costs
    if event.pattern in _OF_MACHINE:
        return event
    judged = _BY_PATTERN.get(event.pattern)
    return judged(event, around) if judged is not None else None


def takes_back(clearing: LogEvent, event: LogEvent) -> bool:
    """Whether `clearing` (it has a group "cleared") ends the condition that `event` reported."""
    if clearing.pattern != event.pattern or event.at_s > clearing.at_s:
        return False
    names = ("server", "lustre", "lustre_failed", "ceph", "interface", "slave")
    reported = {event.groups[name] for name in names if name in event.groups}
    cleared = {clearing.groups[name] for name in names if name in clearing.groups}
    if not cleared:
        return event.pattern == "cpu-thermal-throttle"
    return bool(reported & cleared)


def lapses_after_s(event: LogEvent) -> float | None:
    """How long it counts if no event clears it; None: as long as the affected ranks run.

    A hung task is reported again every 120 s (kernel.hung_task_timeout_secs), a soft lockup every 20 s, heat every 300 s
    (therm_throt.c CHECK_INTERVAL); each of these counts for twice that and some more. A disk that had to be reset counts for ten
    minutes, a server for an hour: engineering defaults.
    """
    if event.pattern == "kernel-stall":
        return 120.0
    if event.pattern == "cpu-thermal-throttle":
        return 660.0
    if "blocked_s" in event.groups:
        return 300.0
    if event.pattern == "filesystem-hang" and event.severity != "critical":
        return 600.0 if "device" in event.groups else 3600.0
    return None


def still_counts(event: LogEvent, around: Surroundings) -> bool:
    """Whether it may still be true: a link that is up now is not down."""
    interface = event.groups.get("interface") or event.groups.get("slave")
    if event.pattern == "network-link" and interface is not None and around.nics is not None:
        return not around.nics.get(interface)
    return True


def _of_process(event: LogEvent, around: Surroundings) -> LogEvent | None:
    pid, task = int(event.groups["pid"]), event.groups.get("task", "")
    owner = _owner(pid, event.at_s, around) or (_crashed(event, around) if event.pattern == "segfault" else None)
    if owner is None:
        thread = _JOURNAL_THREAD.match(task)
        return _of_disk(event, thread[1], around) if thread is not None else None
    library = event.groups.get("library")
    reported = f"{_whose(owner)} (PID {owner.pid}{f', thread {task}' if pid != owner.pid else ''})"
    where = f" in {library}" if library else ""
    # the kernel reports it only after minutes: the other ranks have waited as long
    severity: Severity = "critical" if "blocked_s" in event.groups else event.severity
    explanation = f"{reported[0].upper()}{reported[1:]}{where}: {event.explanation}"
    return replace(event, severity=severity, rank=owner.rank, explanation=explanation)


def _of_gpu(event: LogEvent, around: Surroundings) -> LogEvent | None:
    if around.gpus is None:
        return None
    pid = event.groups.get("pid")
    owner = _owner(int(pid), event.at_s, around) if pid else None
    bus = bus_of(event.groups.get("bus") or event.text)
    gpu = next((gpu for gpu in around.gpus if bus is not None and bus_of(gpu.pci_bus_id or "") == bus), None)
    if gpu is None:
        is_known = bool(around.gpus) and all(each.pci_bus_id and each.status != "lost" for each in around.gpus)
        if owner is None and is_known and "SXid" not in event.text:
            return None  # a GPU that is not watched
        return replace(event, rank=owner.rank if owner else None)
    ranks = around.gpu_ranks.get(gpu.index, ())
    if owner is None and not ranks:
        return None  # nobody of the job is on it
    rank = owner.rank if owner is not None else ranks[0] if len(ranks) == 1 else None
    users = f", which {named(ranks)} {'uses' if len(ranks) == 1 else 'use'}" if ranks else ""
    groups = {**event.groups, "gpu": str(gpu.index)}
    return replace(event, rank=rank, groups=groups, explanation=f"GPU {gpu.index}{users}: {event.explanation}")


def _of_disk(event: LogEvent, device: str, around: Surroundings) -> LogEvent | None:
    device = device.replace("!", "/")
    hit = [mount for mount in around.mounts if lies_on(mount, device, around.block_devices, around.aliases)]
    if not hit:
        return None
    points = ", ".join(sorted(mount.mount_point for mount in hit)[:3])
    steps = tuple(step.replace("/dev/DEVICE", f"/dev/{device}") for step in event.playbook)
    groups = {**event.groups, "device": device, "mount": points}
    reported = f"{device} holds {points}, which the job uses: {event.explanation}"
    return replace(event, explanation=reported, playbook=steps, groups=groups)


def _of_server(event: LogEvent, around: Surroundings) -> LogEvent | None:
    groups = event.groups
    lustre = groups.get("lustre") or groups.get("lustre_failed")
    hit = [
        mount.mount_point
        for mount in around.mounts
        if ("server" in groups and mount.fs_type.startswith("nfs") and nfs_server(mount.device) == groups["server"])
        or (
            lustre is not None
            and mount.fs_type == "lustre"
            and mount.device.rpartition(":/")[2].split("/")[0] == lustre
        )
        or ("ceph" in groups and mount.fs_type == "ceph")
    ]
    if not hit:
        return None
    points = ", ".join(sorted(hit)[:3])
    steps = (
        f"timeout 5 stat -f {sorted(hit)[0]}; echo $?   # 124: timed out, it does not respond",
        *(step.replace("SERVER", groups.get("server", "SERVER")) for step in event.playbook),
    )
    reported = f"{points}, which the job uses: {event.explanation}"
    return replace(event, explanation=reported, playbook=steps, groups={**groups, "mount": points})


def _of_link(event: LogEvent, around: Surroundings) -> LogEvent | None:
    interface = event.groups.get("interface") or event.groups.get("slave")
    if interface is None:
        return event  # an adapter: several links, of the whole machine
    if around.nics is None or interface not in around.nics:
        return None  # of a container, or not a network interface at all
    steps = tuple(step.replace("INTERFACE", interface) for step in event.playbook)
    return replace(event, explanation=f"{interface}: {event.explanation}", playbook=steps)


def _of_cgroup(event: LogEvent, around: Surroundings) -> LogEvent | None:
    cgroup = event.groups["cgroup"]
    if not any(_is_below(path, cgroup) for path in around.cgroups):
        return None
    steps = tuple(step.replace("/CGROUP", cgroup) for step in event.playbook)
    return replace(event, explanation=f"{cgroup}, in which the job runs: {event.explanation}", playbook=steps)


def _on_processor(event: LogEvent, around: Surroundings) -> LogEvent | None:
    """The whole machine is affected; a process of the job that was running on the CPU, first of all."""
    pid = event.groups.get("pid")
    owner = _owner(int(pid), event.at_s, around) if pid else None
    if owner is None:
        return replace(event, severity="warning")
    whose = _whose(owner)
    return replace(
        event,
        rank=owner.rank,
        explanation=f"{whose[0].upper()}{whose[1:]} was running on that CPU. {event.explanation}",
    )


_BY_PATTERN: dict[str, Callable[[LogEvent, Surroundings], LogEvent | None]] = {
    "filesystem-hang": _of_server,
    "network-link": _of_link,
    "process-limit": _of_cgroup,
    "kernel-stall": _on_processor,
}


def _owner(pid: int, at_s: float, around: Surroundings) -> Owner | None:
    owner = around.owners.get(pid)
    if owner is None or not owner.from_s - CLOCKS_S <= at_s <= owner.to_s + GONE_S:
        return None
    return owner


def _crashed(event: LogEvent, around: Surroundings) -> Owner | None:
    """A crash is reported by thread id. If the thread was too short-lived to be seen, the time decides."""
    near = [pid for pid, at_s in around.crashed.items() if -NOTICED_S <= event.at_s - at_s <= CLOCKS_S]
    return around.owners.get(near[0]) if len(near) == 1 else None


def _whose(owner: Owner) -> str:
    if owner.role == "rank" and owner.rank is not None:
        return f"rank {owner.rank}"
    what = {"loader-worker": "a loader worker", "launcher": "the launcher"}.get(owner.role, "a process of the job")
    return f"{what} of rank {owner.rank}" if owner.rank is not None else what


def _full(kill: OomKill) -> str:
    if kill.limit_cgroup is not None:
        limit = f" at {size(kill.limit_bytes)}" if kill.limit_bytes else ""
        return f"memory cgroup {kill.limit_cgroup} is full{limit}"
    return "host memory is full" if kill.is_global else "the memory available to it is full"


def _is_below(path: str, limit: str) -> bool:
    """Whether the limit of a cgroup applies to another. The root has no limit; a path of another namespace proves nothing."""
    return limit not in ("", "/") and (path == limit or path.startswith(limit.rstrip("/") + "/"))


def bus_of(text: str) -> tuple[int, int, int] | None:
    """(domain, bus, device) of the first PCI address in a text: the kernel and NVML write them with 4 and 8 digits."""
    found = _BUS.search(text)
    if found is None:
        return None
    domain, bus, device = found.groups()
    return int(domain or "0", 16), int(bus, 16), int(device, 16)
