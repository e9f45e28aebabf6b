"""Where the job's processes write what they print."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from hwtop.derive.job.slot import RankSlot
from hwtop.job.launch.environment import local_world_size_of
from hwtop.job.launch.launcher import is_slurmstepd
from hwtop.job.log.name import is_log_name
from hwtop.job.log.rank_path import patterns_of_ranks
from hwtop.model.member import Member
from hwtop.model.plan import LogTarget
from hwtop.model.process import OpenFile, ProcessInfo, ProcessReading
from hwtop.model.reported.log import LogFile

_NOWHERE = "/dev/null"
_READ_ABSENT = 16
"""Ranks that are not here whose logs are looked for. Engineering default."""
_RAY_LOGS = re.compile(r"/session_[^/]+/logs/")


def log_targets(reading: ProcessReading, known: Sequence[Member]) -> tuple[LogTarget, ...]:
    """Where launcher and ranks write: fd 1 and 2, and other files that are named like logs. Then where ranks must have written that
    are not here: one that failed before hwtop came has left nothing else.
    """
    roles = {member.pid: member.role for member in known}
    writers: dict[str, set[int]] = {}
    for process in reading.processes:
        role = roles.get(process.pid)
        if role not in ("rank", "launcher") or is_slurmstepd(process):
            continue  # slurmstepd prints nothing of its own
        for file in process.files:
            if _is_output(file) and (role == "rank" or file.target != _NOWHERE):
                writers.setdefault(file.target, set()).add(process.pid)
    found = [LogTarget(path=path, pids=tuple(sorted(pids))) for path, pids in writers.items()]
    absent = {path: rank for path, rank in _of_absent(writers, known).items() if path not in writers}
    return (*found, *(LogTarget(path=path, may_lack=True, rank=rank) for path, rank in absent.items()))


def _of_absent(writers: Mapping[str, Collection[int]], known: Sequence[Member]) -> dict[str, int]:
    """Logs of ranks that are missing, named as those of the ranks that are here are, each for its own number."""
    numbers = _numbers(known)
    absent = _absent(known, max((member.world_size or 0 for member in known), default=0))
    own = {
        path: rank
        for path, pids in writers.items()
        if path.startswith("/") and len(pids) == 1 and (rank := numbers.get(*pids)) is not None
    }
    patterns = patterns_of_ranks(own) if absent else ()
    return {pattern.path(rank): rank for pattern in patterns for rank in absent}


def _numbers(known: Sequence[Member]) -> dict[int, int]:
    return {member.pid: member.rank for member in known if member.role == "rank" and member.rank is not None}


def _absent(known: Sequence[Member], size: int) -> list[int]:
    """Numbers of ranks that are not here."""
    here = set(_numbers(known).values())
    return sorted(set(range(min(size, len(here) + _READ_ABSENT))) - here)[:_READ_ABSENT]


def shared_with_absent(reading: ProcessReading, known: Sequence[Member]) -> dict[str, tuple[int, ...]]:
    """Files that a launcher has open as its output, too -> the ranks of this node that are not here: what it started may have written
    there, so that a line of such a file is not that of the rank which is left."""
    absent = _absent(known, _local_size(reading, known))
    if not absent:
        return {}
    launchers = {member.pid for member in known if member.role == "launcher"}
    paths = {
        file.target
        for process in reading.processes
        if process.pid in launchers and not is_slurmstepd(process)
        for file in process.files
        if file.fd in (1, 2)
    }
    return dict.fromkeys(paths, tuple(absent))


def _local_size(reading: ProcessReading, known: Sequence[Member]) -> int:
    """How many ranks there were on this node, the first or only one: LOCAL_WORLD_SIZE, else all. 0 on other nodes."""
    numbers = _numbers(known)
    ranks = [member for member in known if member.pid in numbers]
    if any(rank.local_rank not in (None, rank.rank) for rank in ranks):
        return 0
    reported = local_world_size(process for process in reading.processes if process.pid in numbers)
    return max((rank.world_size or 0 for rank in ranks), default=0) if reported is None else reported


def local_world_size(ranks: Iterable[ProcessInfo]) -> int | None:
    """LOCAL_WORLD_SIZE in their environments; None where it is in none."""
    sizes = (local_world_size_of(rank.env or {}) for rank in ranks)
    return max((size for size in sizes if size is not None), default=None)


def ranks_by_path(slots: Sequence[RankSlot]) -> dict[str, tuple[int, ...]]:
    """File -> the ranks that have it open as their output."""
    ranks: dict[str, set[int]] = {}
    for slot in slots:
        for file in slot.processes.process.files:
            is_file = file.target.startswith("/") and not file.target.startswith("/dev/")
            if is_file and _is_output(file) and slot.processes.member.rank is not None:
                ranks.setdefault(file.target, set()).add(slot.processes.member.rank)
    return {path: tuple(sorted(numbers)) for path, numbers in ranks.items()}


def with_files(
    ranks_of: Mapping[str, tuple[int, ...]], files: Sequence[LogFile], rank_of: Mapping[int, int]
) -> dict[str, tuple[int, ...]]:
    """`ranks_of` with what followed files tell, which may stand behind a pipe. `rank_of`: PIDs of ranks -> their numbers."""
    found = dict(ranks_of)
    for file in files:
        ranks = {rank_of[pid] for pid in file.pids if pid in rank_of}
        if ranks and file.size_bytes is not None:
            found = with_ranks(found, {file.path: ranks})
    return found


def with_ranks(
    ranks_of: Mapping[str, tuple[int, ...]], more: Mapping[str, Collection[int]]
) -> dict[str, tuple[int, ...]]:
    """`ranks_of` and further ranks of its files, or further files."""
    return {**ranks_of, **{path: tuple(sorted({*ranks_of.get(path, ()), *ranks})) for path, ranks in more.items()}}


def _is_output(file: OpenFile) -> bool:
    if file.target == _NOWHERE:
        return file.fd == 1
    if _RAY_LOGS.search(file.target):
        return file.fd in (1, 2)  # the rest are Ray's own
    return file.fd in (1, 2) or (file.is_writable and is_log_name(file.target))
