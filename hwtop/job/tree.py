"""Role and rank of each process of a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hwtop.job.environment import job_key, local_rank_of, world_size_of
from hwtop.job.launcher import (
    helper_kind,
    is_fork_server,
    is_python,
    is_slurmstepd,
    is_spawned,
    is_wrapper,
    launcher_kind,
    local_rank_argument,
    program_name,
)
from hwtop.job.root import is_multiprocessing_child, rank_number
from hwtop.model.job import Member, ProcessRole
from hwtop.model.process import ProcessInfo

_TRAINING_THREADS = ("pt_autograd", "pt_nccl", "pt_gloo", "gloo_tcp_loop", "pt_data_pin", "cuda-EvtHandlr", "cuda0000")
"""Threads that a process has when it trains: backward, collectives, pinning, CUDA. Names given by torch, gloo and CUDA."""

_RANK_VARIABLES = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"})


class _Place(NamedTuple):
    role: ProcessRole
    rank: int | None = None
    """Number where the process itself tells it, or that of the rank it serves."""
    rank_pid: int | None = None
    """The rank that it is or serves; its number may be given later."""
    launcher_kind: str | None = None


def members(processes: Sequence[ProcessInfo], earlier: Sequence[Member] = ()) -> tuple[Member, ...]:
    """Place of each process of one ProcessReading in the job, parents before children, siblings by start.

    Stateless. `earlier`, the members of the reading before, keeps what a later reading alone no longer tells: the role of a
    process whose parent has died, and the numbers of ranks that are numbered by their order of start.
    """
    tree = _Tree(processes, earlier)
    places = tree.places()
    numbers = _numbers(tree, places)
    run_id = _run_id(tree, places)
    return tuple(_member(tree, process, places, numbers, run_id) for process in tree.order)


class _Tree:
    """Processes by parent, and the rules that give each its role."""

    def __init__(self, processes: Sequence[ProcessInfo], earlier: Sequence[Member]) -> None:
        self.by_pid = {process.pid: process for process in processes}
        self.earlier = {member.pid: member for member in earlier}
        self._children: dict[int, list[ProcessInfo]] = {}
        tops: list[ProcessInfo] = []
        for process in sorted(processes, key=lambda p: (p.start_ticks, p.pid)):
            is_top = process.ppid not in self.by_pid or process.ppid == process.pid
            (tops if is_top else self._children.setdefault(process.ppid, [])).append(process)
        self.depths: dict[int, int] = {}
        self.order = tuple(process for index, top in enumerate(tops) for process in self._walk(top, index))
        self._places: dict[int, _Place] = {}

    def places(self) -> dict[int, _Place]:
        for process in self.order:
            self._places[process.pid] = self._place(process)
        return self._places

    def number(self, process: ProcessInfo) -> int | None:
        """Rank number that the process itself tells."""
        return rank_number(process, self.by_pid)

    def _walk(self, top: ProcessInfo, index: int) -> Iterator[ProcessInfo]:
        # The first is the root; later ones lost their parent, which was the root or stood below it.
        member = self.earlier.get(top.pid)
        pending = [(top, member.depth if member else min(index, 1))]
        while pending:
            process, depth = pending.pop()
            self.depths[process.pid] = depth
            yield process
            pending.extend((child, depth + 1) for child in reversed(self._children.get(process.pid, ())))

    def _place(self, process: ProcessInfo) -> _Place:
        owner = self._owner(process)
        served = self._places[owner.pid] if owner is not None else None
        kind = launcher_kind(process)
        if kind is not None:
            return _Place("launcher", launcher_kind=kind)
        member = self.earlier.get(process.pid)
        if member is not None and member.ppid != process.ppid and member.role != "wrapper":
            return self._as_before(member)
        role = helper_kind(process) or self._fixed_role(process)
        if role is not None:
            return self._serving(role, served, process)
        if owner is None or served is None:
            return self._place_on_top(process)
        if served.role == "launcher":
            return self._place_below_launcher(process, owner, served)
        return self._place_below_rank(process, owner, served)

    def _fixed_role(self, process: ProcessInfo) -> ProcessRole | None:
        if is_wrapper(process):
            return "wrapper"
        parent = self.by_pid.get(process.ppid)
        is_server = is_fork_server(process) and not (parent is not None and is_fork_server(parent))
        return "other" if is_server else None

    def _owner(self, process: ProcessInfo) -> ProcessInfo | None:
        """Nearest ancestor that is neither a wrapper nor a fork server."""
        parent = self.by_pid.get(process.ppid)
        while parent is not None and (is_wrapper(parent) or is_fork_server(parent)):
            parent = self.by_pid.get(parent.ppid)
        return parent

    def _programs(self, process: ProcessInfo) -> Iterator[ProcessInfo]:
        """What it started, wrappers and fork servers skipped."""
        for child in self._children.get(process.pid, ()):
            if is_wrapper(child) or self._fixed_role(child) is not None:
                yield from self._programs(child)
            else:
                yield child

    def _place_on_top(self, process: ProcessInfo) -> _Place:
        """No launcher or rank above it."""
        number = self.number(process)
        kind = self._own_launcher_kind(process, number)
        if kind is not None:
            return _Place("launcher", launcher_kind=kind)
        ranks = [place for place in self._places.values() if place.role == "rank"]
        has_launcher = any(place.role == "launcher" for place in self._places.values())
        if number is not None:
            # Its parent is gone. Below a living launcher that parent was a rank, and so this one of its workers; else ranks
            # lost their launcher, and the oldest of those that carry the same number is the rank.
            holder = next((place.rank_pid for place in ranks if place.rank == number), None)
            if holder is not None or (has_launcher and self.depths[process.pid] > 0):
                return _Place("loader-worker", number, holder)
            return _Place("rank", number, process.pid)
        if not is_python(process) or is_spawned(process) or ranks or has_launcher:
            return _Place("other")
        return _Place("rank", 0, process.pid)

    def _own_launcher_kind(self, process: ProcessInfo, number: int | None) -> str | None:
        """Kind of the launcher that `process` is because of what it started; None when it is none."""
        member = self.earlier.get(process.pid)
        if member is not None and member.role == "launcher":  # all its ranks may have ended since
            return member.launcher_kind
        programs = [child for child in self._programs(process) if launcher_kind(child) is None]
        numbers = {found for child in programs if (found := self.number(child)) is not None}
        if numbers - {number}:
            is_rank_zero = number is None and 0 not in numbers and _same_program(process, programs)
            if not is_rank_zero:  # Lightning's `ddp`: rank 0 starts the others with its own command line
                return "python" if is_python(process) else program_name(process)
        unnumbered = (child for child in programs if self.number(child) is None)
        if number is None and any(self._is_spawned_rank(child, process) for child in unnumbered):
            return "mp.spawn"
        return None

    def _is_spawned_rank(self, child: ProcessInfo, parent: ProcessInfo) -> bool:
        """Whether a multiprocessing child of a process without a rank is a rank itself, not a loader worker.

        torch.multiprocessing.spawn leaves no mark but what its ranks do: a rank has training threads or loader workers of its
        own, or its environment got a rendezvous that the parent's lacks. A parent that trains itself has no ranks.
        """
        member = self.earlier.get(child.pid)
        if member is not None and member.role == "rank":
            return True
        if not is_multiprocessing_child(child, parent) or helper_kind(child) is not None or _trains(parent):
            return False
        if any(other.comm == "pt_data_worker" for other in self._programs(parent)):
            return False
        given = _RANK_VARIABLES & (child.env or {}).keys()
        if is_spawned(child) and given - (parent.env or {}).keys():
            return True
        return _trains(child) or any(is_multiprocessing_child(own, child) for own in self._programs(child))

    def _place_below_launcher(self, process: ProcessInfo, owner: ProcessInfo, served: _Place) -> _Place:
        number = self.number(process)
        if number is not None and not (number == self.number(owner) and is_multiprocessing_child(process, owner)):
            return _Place("rank", number, process.pid)
        if served.launcher_kind == "mp.spawn":
            is_rank = self._is_spawned_rank(process, owner)
        elif served.launcher_kind == "python":
            is_rank = False
        else:
            # A known launcher starts nothing in Python but ranks; a zombie or an unreadable process tells no number.
            is_rank = is_python(process) and (not process.cmdline or process.cmdline != owner.cmdline)
        return _Place("rank", None, process.pid) if is_rank else _Place("other")

    def _place_below_rank(self, process: ProcessInfo, owner: ProcessInfo, served: _Place) -> _Place:
        number = self.number(process)
        is_other_rank = number is not None and number != served.rank and self.number(owner) is None
        if served.role == "rank" and is_other_rank and not is_spawned(process):
            return _Place("rank", number, process.pid)
        is_worker = served.role in ("rank", "loader-worker") and is_multiprocessing_child(process, owner)
        role: ProcessRole = "loader-worker" if is_worker else "other"
        if served.role == "compile-worker":
            role = "compile-worker"
        return _Place(role, served.rank, served.rank_pid)

    def _serving(self, role: ProcessRole, served: _Place | None, process: ProcessInfo) -> _Place:
        if served is None or served.rank_pid is None:
            return _Place(role, self.number(process) if role == "loader-worker" else None)
        return _Place(role, served.rank, served.rank_pid)

    def _as_before(self, member: Member) -> _Place:
        return _Place(member.role, member.rank, member.pid if member.role == "rank" else None, member.launcher_kind)


def _trains(process: ProcessInfo) -> bool:
    return any(thread.comm.startswith(_TRAINING_THREADS) for thread in process.threads)


def _same_program(process: ProcessInfo, programs: Sequence[ProcessInfo]) -> bool:
    return bool(process.cmdline) and all(child.cmdline == process.cmdline for child in programs if is_python(child))


def _numbers(tree: _Tree, places: dict[int, _Place]) -> dict[int, int]:
    """Rank number by pid of the rank; those that tell none get the free numbers in order of start."""
    numbers: dict[int, int] = {}
    unnumbered: list[ProcessInfo] = []
    for pid, place in places.items():
        if place.role != "rank":
            continue
        member = tree.earlier.get(pid)
        known = place.rank if place.rank is not None or member is None else member.rank
        if known is None:
            unnumbered.append(tree.by_pid[pid])
        else:
            numbers[pid] = known
    taken = set(numbers.values()) | {m.rank for m in tree.earlier.values() if m.role == "rank" and m.rank is not None}
    free = (number for number in range(len(places) + len(taken) + 1) if number not in taken)
    for process in sorted(unnumbered, key=lambda p: (p.start_ticks, p.pid)):
        numbers[process.pid] = next(free)
    return numbers


def _run_id(tree: _Tree, places: dict[int, _Place]) -> str | None:
    """Of the first process that carries one, else made of the launcher's PID: for those that carry none."""
    carried = next((key for process in tree.order if (key := job_key(process.env or {}, None)) is not None), None)
    launcher_pid = next((pid for pid, place in places.items() if place.role == "launcher"), None)
    top_pid = tree.order[0].pid if tree.order else None
    return carried or job_key({}, launcher_pid if launcher_pid is not None else top_pid)


def _member(
    tree: _Tree, process: ProcessInfo, places: dict[int, _Place], numbers: dict[int, int], run_id: str | None
) -> Member:
    place = places[process.pid]
    below_slurmstepd = is_slurmstepd(tree.by_pid.get(process.ppid))
    env = process.env or {}
    is_rank = place.role == "rank"
    rank = numbers.get(place.rank_pid, place.rank) if place.rank_pid is not None else place.rank
    local_rank = world_size = None
    if is_rank:
        local_rank = local_rank_of(env, below_slurmstepd)
        if local_rank is None:
            local_rank = local_rank_argument(process.cmdline or ())
        world_size = world_size_of(env, below_slurmstepd) or _counted_world_size(tree, places)
    return Member(
        pid=process.pid,
        ppid=process.ppid,
        depth=tree.depths[process.pid],
        role=place.role,
        rank=rank,
        local_rank=local_rank,
        world_size=world_size,
        launcher_kind=place.launcher_kind,
        run_id=job_key(env, None) or run_id,
    )


def _counted_world_size(tree: _Tree, places: dict[int, _Place]) -> int | None:
    """World size where no rank carries one: the ranks that were seen. None when some rank tells its number but no size."""
    ranks = [pid for pid, place in places.items() if place.role == "rank"]
    if any(tree.number(tree.by_pid[pid]) is not None for pid in ranks):
        return None
    before = max((m.world_size or 0 for m in tree.earlier.values()), default=0)
    return max(len(ranks), before)
