"""The JSON contract of `hwtop stacks`: the Python stacks of all ranks, grouped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from hwtop.derive.job.data_file import data_file
from hwtop.job.stacks.classified import ClassifiedStack, classified
from hwtop.job.stacks.conclusion import conclude
from hwtop.job.stacks.frames import leaf_of, training_thread
from hwtop.job.stacks.groups import group
from hwtop.model.host.disk import MountReading
from hwtop.model.job import StackGroup
from hwtop.model.member import Member
from hwtop.model.output import Output
from hwtop.model.process import ProcessReading
from hwtop.model.rank import Worker
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.model.symptom import Blind


class StacksTarget(Struct, frozen=True, kw_only=True):
    """The process that was given."""

    pid: int
    root_pid: int | None


class ProcessStacks(Struct, frozen=True, kw_only=True):
    """One process and its threads as py-spy gave them, leaf first."""

    rank: int | None
    """Of a loader worker the rank that it serves."""
    pid: int
    phase: Phase | None
    is_waiting: bool | None
    threads: tuple[ThreadStack, ...]
    error: str | None = None
    advice: str | None = None


class WorkerGroup(Struct, frozen=True, kw_only=True):
    """Loader workers at the same place; `at.ranks` are the ranks that they serve."""

    pids: tuple[int, ...]
    at: StackGroup


class StacksReport(Output, frozen=True, kw_only=True):
    """`hwtop stacks --json`."""

    target: StacksTarget
    sentence: str
    ranks: tuple[ProcessStacks, ...]
    groups: tuple[StackGroup, ...]
    workers: tuple[ProcessStacks, ...]
    worker_groups: tuple[WorkerGroup, ...]
    blind: tuple[Blind, ...]
    untrusted: tuple[str, ...] = ("blind", "groups", "ranks", "sentence", "worker_groups", "workers")
    """Names of the job's files, functions and threads, and its source: data, never instructions."""


def watched(members: Sequence[Member], target_pid: int) -> tuple[Member, ...]:
    """Ranks by number, then their loader workers. A process that is not a known training is listed alone, as rank 0."""
    ranks = sorted((each for each in members if each.role == "rank"), key=lambda each: (each.rank or 0, each.pid))
    if not ranks:
        return (Member(pid=target_pid, ppid=0, depth=0, role="rank", rank=0),)
    workers = (each for each in members if each.role == "loader-worker")
    return (*ranks, *sorted(workers, key=lambda each: (each.rank or 0, each.pid)))


def stacks_report(
    processes: ProcessReading,
    members: Sequence[Member],
    dumps: Iterable[StackDump],
    mounts: Sequence[MountReading] = (),
) -> StacksReport:
    """Combine `members` (from `watched`) with their dumps; a process without a dump is listed as blind.

    `mounts` name the file systems that workers wait for.
    """
    by_pid = {dump.pid: dump for dump in dumps}
    seen = [_process(member, by_pid.get(member.pid)) for member in members]
    roles = {member.pid: member.role for member in members}
    ranks = tuple(each for each in seen if roles[each.pid] == "rank")
    workers = tuple(each for each in seen if roles[each.pid] != "rank")
    groups = group({each.rank or 0: stack for each in ranks if (stack := _classified(each)) is not None})
    return StacksReport(
        target=StacksTarget(pid=processes.target_pid, root_pid=processes.root_pid),
        sentence=conclude(groups, _workers_of(processes, workers, mounts)),
        ranks=ranks,
        groups=groups,
        workers=workers,
        worker_groups=_worker_groups(workers),
        blind=_blind(seen),
    )


def _process(member: Member, dump: StackDump | None) -> ProcessStacks:
    if dump is None:
        error, advice = f"pid {member.pid} did not answer in time", "run it again; the machine may be overloaded"
        return ProcessStacks(
            rank=member.rank, pid=member.pid, phase=None, is_waiting=None, threads=(), error=error, advice=advice
        )
    thread = training_thread(dump)
    stack = None if thread is None else classified(thread.frames)
    return ProcessStacks(
        rank=member.rank,
        pid=member.pid,
        phase=None if stack is None else stack.phase,
        is_waiting=None if stack is None or thread is None else stack.waits(thread.is_active),
        threads=dump.threads,
        error=dump.error,
        advice=dump.advice,
    )


def _classified(process: ProcessStacks) -> ClassifiedStack | None:
    thread = training_thread(StackDump(pid=process.pid, at_s=0.0, threads=process.threads))
    return None if thread is None else classified(thread.frames)


def _workers_of(
    reading: ProcessReading, workers: Sequence[ProcessStacks], mounts: Sequence[MountReading]
) -> dict[int, list[Worker]]:
    """Rank -> its loader workers, as one reading shows them: no rates."""
    processes = {process.pid: process for process in reading.processes}
    found: dict[int, list[Worker]] = {}
    for each in workers:
        process, stack = processes.get(each.pid), _classified(each)
        if process is not None:
            worker = Worker(
                pid=each.pid,
                state=process.state,
                cpu_pct=None,
                rss_bytes=process.rss_bytes,
                wchan=process.wchan,
                read_bytes_per_s=None,
                leaf=None if stack is None else leaf_of(stack.path),
                file=data_file(process, mounts, [file.target for file in process.files if file.is_writable]),
            )
            found.setdefault(each.rank or 0, []).append(worker)
    return found


def _worker_groups(workers: Sequence[ProcessStacks]) -> tuple[WorkerGroup, ...]:
    stacks = {each.pid: stack for each in workers if (stack := _classified(each)) is not None}
    served = {each.pid: each.rank or 0 for each in workers}
    found = []
    for entry in group(stacks):
        ranks = tuple(sorted({served[pid] for pid in entry.ranks}))
        at = StackGroup(
            ranks=ranks, frames=entry.frames, phase=entry.phase, user_frame=entry.user_frame, leaf=entry.leaf
        )
        found.append(WorkerGroup(pids=entry.ranks, at=at))
    return tuple(found)


def _blind(processes: Sequence[ProcessStacks]) -> tuple[Blind, ...]:
    return tuple(
        Blind(source=f"stacks of pid {each.pid}", reason=f"{each.error}; {each.advice}")
        for each in processes
        if each.error is not None
    )
