"""Role of each process of a job, by what it is and by what stands around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hwtop.job.launch.launcher import (
    helper_kind,
    is_fork_server,
    is_named_loader,
    is_python,
    is_same_program,
    is_slurmstepd,
    is_spawned,
    is_wrapper,
    launcher_kind,
    program_name,
)
from hwtop.job.launch.ray import has_process_group, is_ray_process, is_ray_service, is_ray_train_worker, is_ray_work
from hwtop.job.launch.ray_cluster import RayCluster
from hwtop.job.launch.root import is_multiprocessing_child, rank_number, unread_ranks
from hwtop.job.launch.trainer import trainers_among, trains
from hwtop.model.member import Member, ProcessRole
from hwtop.model.process import ProcessInfo

_RANK_VARIABLES = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"})


class Place(NamedTuple):
    """What a process is, and for which rank."""

    role: ProcessRole
    rank: int | None = None
    """Number where the process itself tells it, or that of the rank it serves."""
    rank_pid: int | None = None
    """The rank that it is or serves; its number may be given later."""
    launcher_kind: str | None = None


class _Family(NamedTuple):
    """What a process started: asked of the parent once, not once for each of its children."""

    programs: tuple[ProcessInfo, ...]
    """Wrappers and fork servers skipped."""
    has_loader_worker: bool
    unread_ranks: frozenset[int]
    """PIDs."""
    trainers: frozenset[int]
    """PIDs of the program that it only calls."""


class Tree:
    """Processes by parent, and the rules that give each its role."""

    def __init__(
        self,
        processes: Sequence[ProcessInfo],
        earlier: Sequence[Member],
        spawners: Collection[int],
        named: int | None = None,
    ) -> None:
        self._spawners = spawners
        self._named = named
        self.by_pid = {process.pid: process for process in processes}
        self.earlier = {member.pid: member for member in earlier}
        self._children: dict[int, list[ProcessInfo]] = {}
        tops: list[ProcessInfo] = []
        for process in sorted(processes, key=lambda p: (p.start_ticks, p.pid)):
            is_top = process.ppid not in self.by_pid or process.ppid == process.pid
            (tops if is_top else self._children.setdefault(process.ppid, [])).append(process)
        self.depths: dict[int, int] = {}
        self.order = tuple(process for index, top in enumerate(tops) for process in self._walk(top, index))
        self._ray = RayCluster(self.order, self._has_number)
        self._places: dict[int, Place] = {}
        self._families: dict[int, _Family] = {}

    def places(self) -> dict[int, Place]:
        """Place by PID."""
        for process in self.order:
            self._places[process.pid] = self._place(process)
        return self._places

    def number(self, process: ProcessInfo) -> int | None:
        """Rank number that the process itself tells."""
        return rank_number(process, self.by_pid)

    def _has_number(self, process: ProcessInfo) -> bool:
        """Itself, or a program that it started."""
        return self.number(process) is not None or bool(self._numbers_below(process))

    def _walk(self, top: ProcessInfo, index: int) -> Iterator[ProcessInfo]:
        # The first is the root. Later ones lost their parent; deeper than right below the root they would look like another rank's.
        member = self.earlier.get(top.pid)
        pending = [(top, min(member.depth if member else index, 1))]
        while pending:
            process, depth = pending.pop()
            if process.pid in self.depths:  # two processes with one PID, one of them below the other, would never end
                continue
            self.depths[process.pid] = depth
            yield process
            pending.extend((child, depth + 1) for child in reversed(self._children.get(process.pid, ())))

    def _place(self, process: ProcessInfo) -> Place:
        owner = self._owner(process)
        served = self._places[owner.pid] if owner is not None else None
        kind = launcher_kind(process)
        if kind is not None:
            return Place("launcher", launcher_kind=kind)
        member = self.earlier.get(process.pid)
        if member is not None and self._has_lost_parent(process, member):
            return self._as_before(member)
        role = helper_kind(process) or self._fixed_role(process)
        if self._ray.has_raylet and is_ray_service(process):
            return Place(role or "other")
        if role is not None:
            return self._serving(role, served, process)
        if is_ray_process(process):
            return self._place_in_ray(process)
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

    def _family(self, process: ProcessInfo) -> _Family:
        known = self._families.get(process.pid)
        if known is None:
            programs = tuple(self._programs(process))
            has_loader_worker = any(map(is_named_loader, programs))
            unread = frozenset(rank.pid for rank in unread_ranks(process, programs))
            trainers = trainers_among(programs, process) if self.number(process) is None else frozenset()
            known = self._families[process.pid] = _Family(programs, has_loader_worker, unread, trainers)
        return known

    def _programs(self, process: ProcessInfo) -> Iterator[ProcessInfo]:
        for child in self._children.get(process.pid, ()):
            if is_wrapper(child) or self._fixed_role(child) is not None:
                yield from self._programs(child)
            else:
                yield child

    def _place_in_ray(self, process: ProcessInfo) -> Place:
        """Ranks are Ray Train's workers; without any, the actors that take part in collectives, and what a task starts with the number
        of a rank. The rest serves them."""
        is_rank = is_ray_train_worker(process) if self._ray.has_train_workers else has_process_group(process)
        if is_rank:
            return Place("rank", self.number(process), process.pid)
        if self._ray.has_only_helpers and is_ray_work(process):
            return next(
                (Place("other", each.rank, each.rank_pid) for each in self._places.values() if each.role == "rank"),
                Place("other"),
            )
        return Place("launcher", launcher_kind="ray") if self._numbers_below(process) else Place("other")

    def _place_on_top(self, process: ProcessInfo) -> Place:
        """No launcher or rank above it."""
        number = self.number(process)
        kind = self._own_launcher_kind(process, number)
        if kind is not None:
            return Place("launcher", launcher_kind=kind)
        ranks = [place for place in self._places.values() if place.role == "rank"]
        has_launcher = any(place.role == "launcher" for place in self._places.values())
        if number is not None:
            # Its parent is gone. Below a living launcher that parent was a rank, and so this one of its workers; else ranks
            # lost their launcher, and the oldest of those that carry the same number is the rank.
            holder = next((place.rank_pid for place in ranks if place.rank == number), None)
            if holder is not None or (has_launcher and self.depths[process.pid] > 0):
                return Place("loader-worker", number, holder)
            return Place("rank", number, process.pid)
        if process is not self._main_program or ranks or has_launcher:
            return Place("other")
        return Place("rank", 0, process.pid)

    def _own_launcher_kind(self, process: ProcessInfo, number: int | None) -> str | None:
        """Kind of the launcher that `process` is because of what it started; None when it is none."""
        member = self.earlier.get(process.pid)
        if member is not None and member.role == "launcher" and (member.launcher_kind != "ray" or self._had_ranks):
            return member.launcher_kind  # all its ranks may have ended since
        has_raylet = any(program_name(child) == "raylet" for child in self._children.get(process.pid, ()))
        if has_raylet and self._ray.has_only_helpers:
            return None
        if has_raylet or (number is None and is_python(process) and self._ray.has_train_workers):
            return "ray"  # a driver, in a cluster of its own or one that was there
        programs = [child for child in self._family(process).programs if launcher_kind(child) is None]
        numbers = {found for child in programs if (found := self.number(child)) is not None}
        if numbers - {number}:
            is_rank_zero = number is None and 0 not in numbers and _runs_itself(process, programs)
            if not is_rank_zero:  # Lightning's `ddp`: rank 0 starts the others with its own script
                return "python" if is_python(process) else program_name(process)
        unnumbered = [child for child in programs if self.number(child) is None]
        if number is None and any(self._is_spawned_rank(child, process) for child in unnumbered):
            return "mp.spawn"
        return "python" if unread_ranks(process, unnumbered) or self._family(process).trainers else None

    def _is_spawned_rank(self, child: ProcessInfo, parent: ProcessInfo) -> bool:
        """Whether a multiprocessing child of a process without a rank is a rank itself, not a loader worker.

        torch.multiprocessing.spawn leaves no mark but the parent's stack and what its ranks do: a rank has training threads or
        loader workers of its own, or its environment got a rendezvous that the parent's lacks. A parent that trains itself
        has no ranks.
        """
        member = self.earlier.get(child.pid)
        if member is not None and member.role == "rank":
            return True
        if parent.pid in self._spawners and child.state == "Z" and is_python(child):
            return True  # it has ended: nothing else of it is left
        if not is_multiprocessing_child(child, parent) or helper_kind(child) is not None or trains(parent):
            return False
        if parent.pid in self._spawners:
            return True
        if self._family(parent).has_loader_worker:
            return False
        given = _RANK_VARIABLES & (child.env or {}).keys()
        if is_spawned(child) and given - (parent.env or {}).keys():
            return True
        return trains(child) or any(is_multiprocessing_child(own, child) for own in self._family(child).programs)

    def _place_below_launcher(self, process: ProcessInfo, owner: ProcessInfo, served: Place) -> Place:
        number = self.number(process)
        if self._starts_ranks(process):
            return Place("launcher", launcher_kind="python" if served.launcher_kind == "srun" else served.launcher_kind)
        if number is not None and not (number == self.number(owner) and is_multiprocessing_child(process, owner)):
            return Place("rank", number, process.pid)
        return Place("rank", None, process.pid) if self._is_unnumbered_rank(process, owner, served) else Place("other")

    def _is_unnumbered_rank(self, process: ProcessInfo, owner: ProcessInfo, served: Place) -> bool:
        if served.launcher_kind == "mp.spawn":
            return self._is_spawned_rank(process, owner)
        if served.launcher_kind == "python":
            family = self._family(owner)
            return process.pid in family.unread_ranks or process.pid in family.trainers
        if served.launcher_kind == "ray":
            return False
        if is_slurmstepd(owner) and self._has_other_ranks:
            return False  # runs beside the job in the same batch script
        # A known launcher starts nothing in Python but ranks; a zombie or an unreadable process tells no number.
        return is_python(process) and (not process.cmdline or process.cmdline != owner.cmdline)

    def _starts_ranks(self, process: ProcessInfo) -> bool:
        """Whether a program that a launcher started starts the ranks: Horovod's middlemen, an own launcher below srun."""
        numbers = self._numbers_below(process)
        return bool(numbers) if is_spawned(process) else len(numbers) > 1

    def _numbers_below(self, process: ProcessInfo) -> set[int]:
        """Rank numbers that the Python programs which it started tell."""
        programs = [each for each in self._family(process).programs if is_python(each) and not is_spawned(each)]
        return {number for child in programs if (number := self.number(child)) is not None}

    @cached_property
    def _main_program(self) -> ProcessInfo | None:
        """Of the Python programs that a script starts side by side (a server of its data, the training): one that trains, else the
        largest. Without any, the program that the user named, whatever it is written in."""
        programs = (
            process
            for process in self.order
            if (is_python(process) or process.pid == self._named)
            and not is_spawned(process)
            and self._owner(process) is None
            and (helper_kind(process) or self._fixed_role(process)) is None
        )
        return max(
            programs,
            key=lambda process: (is_python(process), trains(process), process.rss_bytes or 0),
            default=None,
        )

    @cached_property
    def _had_ranks(self) -> bool:
        return any(member.role == "rank" for member in self.earlier.values())

    @cached_property
    def _has_other_ranks(self) -> bool:
        """Whether some process tells its rank number, or there is a launcher besides Slurm's."""
        return any(
            self.number(process) is not None
            or (launcher_kind(process) or "srun") != "srun"
            or program_name(process) == "srun"
            for process in self.order
        )

    def _place_below_rank(self, process: ProcessInfo, owner: ProcessInfo, served: Place) -> Place:
        number = self.number(process)
        is_other_rank = number is not None and number != served.rank and self.number(owner) is None
        if served.role == "rank" and is_other_rank and not is_spawned(process):
            return Place("rank", number, process.pid)
        is_worker = served.role in ("rank", "loader-worker") and is_multiprocessing_child(process, owner)
        role: ProcessRole = "loader-worker" if is_worker else "other"
        if served.role == "compile-worker":
            role = "compile-worker"
        return Place(role, served.rank, served.rank_pid)

    def _serving(self, role: ProcessRole, served: Place | None, process: ProcessInfo) -> Place:
        if served is None or served.rank_pid is None:
            return Place(role, self.number(process) if role == "loader-worker" else None)
        return Place(role, served.rank, served.rank_pid)

    def _has_lost_parent(self, process: ProcessInfo, member: Member) -> bool:
        """Just now; or earlier, when it served a rank: it is not that rank because it is all that the rank has left."""
        if member.ppid != process.ppid:
            return member.role != "wrapper"
        return member.role == "loader-worker" and process.ppid not in self.by_pid

    def _as_before(self, member: Member) -> Place:
        return Place(member.role, member.rank, member.pid if member.role == "rank" else None, member.launcher_kind)


def _runs_itself(process: ProcessInfo, programs: Sequence[ProcessInfo]) -> bool:
    """Whether all Python programs among these run the script of `process`."""
    return all(
        child.cmdline == process.cmdline or is_same_program(child, process) for child in programs if is_python(child)
    )
