"""Resources that a job can run out of: how much of the limit is used, how fast that rises, and when the limit is reached.

One judgement for all of them; what they are is the table at the end. Rules with a symptom of their own (open files, memory of a
rank, /dev/shm, disks) ask the same questions. memory-nearly-full and process-limit are here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from hwtop.job.size import part
from hwtop.model.evidence import MOSTLY, NEARLY_ALL
from hwtop.model.frame import DerivedState
from hwtop.model.host.disk import MountReading
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import line_fit
from hwtop.symptoms.text import roughly

SLICES = 4
"""Equal parts of the time in each of which it must rise. Engineering default."""
SLICE_SHARE = 0.3
"""Of the mean gain, in each of the equal parts: what starts up, opens its shards or warms a cache gains in bursts that also
lie near a line. Engineering default."""
LOOKS = 40
"""So many readings of a window make the line: a job may have thousands of processes. Engineering default."""
WINDOW_S = 120.0
"""Over which a rise towards a limit is sought. Engineering default."""
LEAST_S = 20.0
"""A shorter rise is not reported. Engineering default."""
TRUSTED = 3.0
"""A rise is trusted to go on for so many times as long as it was seen. Engineering default."""


class Amount(Struct, frozen=True):
    """What is used of a limit; None: there is no limit, or it is not known."""

    used: float
    limit: float | None


class Resource(Struct, frozen=True, kw_only=True):
    """Something that a job can run out of."""

    name: str
    amounts: Callable[[DerivedState], Mapping[Hashable, Amount]]
    """By whose it is: a PID, a mount, None for the machine."""


class Rise(Struct, frozen=True):
    """A straight rise."""

    gained: float
    per_s: float
    seconds: float
    fit: float
    """R squared."""


class Outlook(Struct, frozen=True):
    """Where a resource stands, and where it goes."""

    used: float
    limit: float | None
    rise: Rise | None

    @property
    def share(self) -> float:
        """Of the limit; 0 without one."""
        return self.used / self.limit if self.limit else 0.0

    @property
    def left_s(self) -> float:
        """Until the limit is reached, if it goes on as it has; inf where it does not rise or there is no limit."""
        return float("inf") if self.rise is None else self.room / self.rise.per_s

    @property
    def runs_out(self) -> bool:
        """Soon: within a time that what was seen can tell something about."""
        if self.rise is None or self.rise.seconds < LEAST_S or self.share < MOSTLY:
            return False
        return self.left_s <= TRUSTED * self.rise.seconds

    @property
    def room(self) -> float:
        """What is left of the limit; inf without one."""
        return float("inf") if self.limit is None else max(0.0, self.limit - self.used)

    @property
    def words(self) -> tuple[str, ...]:
        """ "at this rate the limit is reached in 40 s"."""
        return (f"at this rate the limit is reached in {roughly(self.left_s)}",) if self.runs_out else ()


def rise_of(points: Sequence[tuple[float, float]]) -> Rise | None:
    """The rise of (at_s, used), if it is a straight one and goes on."""
    if len(points) < SLICES:
        return None
    gained, seconds = points[-1][1] - points[0][1], points[-1][0] - points[0][0]
    if gained <= 0 or min(_gains(points)) < SLICE_SHARE * gained / SLICES:
        return None
    slope, fit = line_fit(points)  # last: most does not rise at all
    return Rise(gained, slope, seconds, fit) if slope > 0 and fit >= NEARLY_ALL else None


def outlooks(history: History, resource: Resource, window_s: float = WINDOW_S) -> dict[Hashable, Outlook]:
    """Of all that have some of this resource now. What rises has risen since the middle of the window: most need no closer look."""
    now, looks = resource.amounts(history.now), history.over(window_s)
    middle = resource.amounts(looks[len(looks) // 2])
    points: dict[Hashable, list[tuple[float, float]]] = {
        whose: [] for whose, amount in now.items() if whose in middle and amount.used > middle[whose].used
    }
    for derived in (*looks[: -1 : max(1, len(looks) // LOOKS)], history.now) if points else ():
        for whose, amount in resource.amounts(derived).items():
            if whose in points:
                points[whose].append((derived.at_s, amount.used))
    return {whose: Outlook(each.used, each.limit, rise_of(points.get(whose, ()))) for whose, each in now.items()}


def _gains(points: Sequence[tuple[float, float]]) -> list[float]:
    """What was gained in each slice of the time."""
    first_s, last_s = points[0][0], points[-1][0]
    ends = [first_s + (last_s - first_s) * number / SLICES for number in range(SLICES)] + [last_s]
    times = [at_s for at_s, _ in points]
    values = [points[bisect_right(times, end) - 1][1] for end in ends]
    return [after - before for before, after in pairwise(values)]


def _memory(derived: DerivedState) -> dict[Hashable, Amount]:
    memory = derived.memory
    return {} if memory is None else {None: Amount(memory.used_bytes, memory.total_bytes)}


def _cgroup_memory(derived: DerivedState) -> dict[Hashable, Amount]:
    """The kernel gives the page cache back under pressure."""
    cgroup = derived.cgroup
    if cgroup is None or cgroup.mem_used_bytes is None or cgroup.mem_limit_bytes is None:
        return {}
    return {None: Amount(cgroup.mem_used_bytes - (cgroup.mem_cache_bytes or 0), cgroup.mem_limit_bytes)}


def _cgroup_processes(derived: DerivedState) -> dict[Hashable, Amount]:
    cgroup = derived.cgroup
    if cgroup is None or cgroup.pids_used is None or cgroup.pids_limit is None:
        return {}
    return {None: Amount(cgroup.pids_used, cgroup.pids_limit)}


def _user_processes(derived: DerivedState) -> dict[Hashable, Amount]:
    """The limit counts all threads of the user; at least those of the job are."""
    used: dict[str, int] = {}
    limits: dict[str, int] = {}
    for process in derived.job.processes if derived.job else ():
        if process.user is not None and process.user != "root" and process.process_limit is not None:
            used[process.user] = used.get(process.user, 0) + process.thread_count
            limits[process.user] = min(process.process_limit, limits.get(process.user, process.process_limit))
    return {user: Amount(used[user], limits[user]) for user in used}


def _open_files(derived: DerivedState) -> dict[Hashable, Amount]:
    return {
        (process.pid, process.start_ticks): Amount(process.fd_count, process.fd_limit)
        for process in (derived.job.processes if derived.job else ())
        if process.fd_count is not None
    }


def _spaces(mounts: Iterable[MountReading]) -> dict[Hashable, Amount]:
    """Of the file systems whose size and use are known. What root keeps for itself counts as used."""
    found: dict[Hashable, Amount] = {}
    for mount in mounts:
        total, left, used = mount.total_bytes, mount.available_bytes, mount.used_bytes
        if total and left is not None:
            used = total - left
        if total and used is not None:
            found[mount.mount_point] = Amount(used, total)
    return found


def _shm(derived: DerivedState) -> dict[Hashable, Amount]:
    return _spaces(mount for mount in derived.mounts if mount.mount_point == "/dev/shm")


def _disks(derived: DerivedState) -> dict[Hashable, Amount]:
    return _spaces(mount for mount in derived.mounts if mount.fs_type not in MEMORY_FS)


def _inodes(derived: DerivedState) -> dict[Hashable, Amount]:
    return {
        mount.mount_point: Amount(mount.inodes_used_pct, 100.0)
        for mount in derived.mounts
        if mount.inodes_used_pct is not None
    }


MEMORY_FS = ("tmpfs", "ramfs", "devtmpfs")
OPEN_FILES = Resource(name="open files", amounts=_open_files)
SHM = Resource(name="/dev/shm", amounts=_shm)
DISK = Resource(name="disk", amounts=_disks)
INODES = Resource(name="inodes", amounts=_inodes)
MEMORY = Resource(name="memory", amounts=_memory)
CGROUP_MEMORY = Resource(name="memory of the cgroup", amounts=_cgroup_memory)
MEMORIES = (CGROUP_MEMORY, MEMORY)
CGROUP_PROCESSES = Resource(name="processes and threads of the cgroup", amounts=_cgroup_processes)
USER_PROCESSES = Resource(name="processes and threads of the user", amounts=_user_processes)
BESIDE_DISKS = (OPEN_FILES, SHM, MEMORY, CGROUP_MEMORY, CGROUP_PROCESSES, USER_PROCESSES)
"""Where nine tenths are nearly all; of a large disk a tenth is room enough."""

FULL = limits_of("memory-nearly-full")
PROCESSES = limits_of("process-limit")


def check_memory(history: History, limits: Limits = FULL) -> Observation | None:
    """Hardly any memory is left, to the machine or to the cgroup."""
    found = _worst(history, MEMORIES, limits.used_share)
    if found is None:
        return None
    name, outlook = found
    return observed(
        "memory-nearly-full",
        confidence=0.95,
        facts={"what": name[0].upper() + name[1:], "used": outlook.share},
        evidence=(f"{part(outlook.used, outlook.limit or 0)} used", *outlook.words),
    )


def check_processes(history: History, limits: Limits = PROCESSES) -> Observation | None:
    """Nearly as many processes and threads as are allowed."""
    found = _worst(history, (CGROUP_PROCESSES, USER_PROCESSES), limits.used_share)
    if found is None:
        return None
    name, outlook = found
    return observed(
        "process-limit",
        severity="warning",
        confidence=0.9,
        facts={"what": name, "used": outlook.share},
        evidence=(f"{outlook.used:.0f} of {outlook.limit or 0:.0f} {name}", *outlook.words),
    )


def _worst(history: History, resources: Sequence[Resource], full: float) -> tuple[str, Outlook] | None:
    """The one of which most is used, if that is nearly all or soon will be."""
    found = [each for each in known(history, resources) if each[1].share >= full or each[1].runs_out]
    return max(found, key=lambda each: each[1].share, default=None)


def known(history: History, resources: Sequence[Resource]) -> Iterator[tuple[str, Outlook]]:
    """All whose limit is known."""
    for resource in resources:
        for outlook in history.once(outlooks, resource).values():
            if outlook.limit:
                yield resource.name, outlook
