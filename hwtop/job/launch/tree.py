"""Role and rank of each process of a job."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from hwtop.job.launch.environment import job_key, local_rank_of, world_size_of
from hwtop.job.launch.launcher import local_rank_argument
from hwtop.job.launch.roles import Place, Tree
from hwtop.job.launch.root import is_slurm_task
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo


class _Numbering(Struct, frozen=True):
    """What the ranks of one reading are numbered by."""

    numbers: dict[int, int]
    """Rank number by PID."""
    positions: dict[int, int]
    """By PID: its place among the ranks of this node."""
    world_size: int | None
    """Of those that carry none."""
    run_id: str | None
    """Of those that carry none."""


def members(
    processes: Sequence[ProcessInfo],
    earlier: Sequence[Member] = (),
    spawners: Collection[int] = (),
    named: int | None = None,
) -> tuple[Member, ...]:
    """Place of each process of one ProcessReading in the job, parents before children, siblings by start.

    Stateless. `earlier`, the members of the reading before, keeps what a later reading alone no longer tells: the role of a
    process whose parent has died, and the numbers of ranks that are numbered by their order of start. `spawners` are PIDs
    whose stack showed that they only wait for the processes they started (`hwtop.job.launch.spawner`). `named` is the PID that the
    user asked about: its program may be written in any language.
    """
    tree = Tree(processes, earlier, spawners, named)
    places = tree.places()
    numbers = _numbers(tree, places)
    positions = {pid: index for index, pid in enumerate(sorted(numbers, key=lambda pid: numbers[pid]))}
    numbering = _Numbering(numbers, positions, _counted_world_size(tree, places), _run_id(tree, places))
    return tuple(_member(tree, process, places[process.pid], numbering) for process in tree.order)


def _numbers(tree: Tree, places: dict[int, Place]) -> dict[int, int]:
    """Rank number by pid of the rank; those that tell none get the free numbers in order of start."""
    numbers: dict[int, int] = {}
    unnumbered: list[ProcessInfo] = []
    for pid, place in places.items():
        if place.role != "rank":
            continue
        member = tree.earlier.get(pid)
        known = place.rank
        if known is None and member is not None and member.role == "rank":
            known = member.rank
        if known is None:
            unnumbered.append(tree.by_pid[pid])
        else:
            numbers[pid] = known
    taken = set(numbers.values())
    free = (number for number in range(len(places) + len(taken) + 1) if number not in taken)
    for process in sorted(unnumbered, key=lambda p: (p.start_ticks, p.pid)):
        numbers[process.pid] = next(free)
    return numbers


def _run_id(tree: Tree, places: dict[int, Place]) -> str | None:
    """Of the first process that carries one, else made of the launcher's PID: for those that carry none."""
    carried = next((key for process in tree.order if (key := job_key(process.env or {}, None)) is not None), None)
    launcher_pid = next((pid for pid, place in places.items() if place.role == "launcher"), None)
    top_pid = tree.order[0].pid if tree.order else None
    return carried or job_key({}, launcher_pid if launcher_pid is not None else top_pid)


def _member(tree: Tree, process: ProcessInfo, place: Place, numbering: _Numbering) -> Member:
    is_task = is_slurm_task(process, tree.by_pid)
    env = process.env or {}
    rank = numbering.numbers.get(place.rank_pid, place.rank) if place.rank_pid is not None else place.rank
    local_rank = world_size = None
    if place.role == "rank":
        local_rank = local_rank_of(env, is_task)
        if local_rank is None:
            local_rank = local_rank_argument(process.cmdline or ())
        if local_rank is None:
            local_rank = _position(process.pid, tree, numbering.positions)
        world_size = world_size_of(env, is_task) or numbering.world_size
    return Member(
        pid=process.pid,
        ppid=process.ppid,
        depth=tree.depths[process.pid],
        role=place.role,
        rank=rank,
        local_rank=local_rank,
        world_size=world_size,
        launcher_kind=place.launcher_kind,
        run_id=job_key(env, None) or numbering.run_id,
    )


def _position(pid: int, tree: Tree, positions: dict[int, int]) -> int:
    """Local rank of one that does not tell it: its place among the ranks of this node, which are numbered in one row."""
    member = tree.earlier.get(pid)
    if member is not None and member.role == "rank" and member.local_rank is not None:
        return member.local_rank  # those before it may have ended since
    return positions[pid]


def _counted_world_size(tree: Tree, places: dict[int, Place]) -> int | None:
    """World size where no rank carries one: the ranks that were seen. None when some rank tells its number but no size."""
    ranks = [pid for pid, place in places.items() if place.role == "rank"]
    if any(tree.number(tree.by_pid[pid]) is not None for pid in ranks):
        return None
    before = max((m.world_size or 0 for m in tree.earlier.values()), default=0)
    return max(len(ranks), before)


def main_launcher(known: Sequence[Member]) -> Member | None:
    """The launcher that a person would name: the first, but rather what srun started than srun."""
    launchers = [member for member in known if member.role == "launcher"]
    return next((member for member in launchers if member.launcher_kind != "srun"), next(iter(launchers), None))
