"""The one sentence that all stacks come to: who waits where, who is elsewhere, and what its loader workers do. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hwtop.job.kernel.wait import waits_for
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.frames import place, short_name
from hwtop.job.stacks.groups import sentence
from hwtop.job.stacks.phase import waits_at_queue
from hwtop.model.job import Job, StackGroup
from hwtop.model.rank import DataFile, Rank, Worker

_WITHOUT_WORK = ("torch/utils/data/_utils/worker.py", "_worker_loop")
"""Where torch's loader worker stands that has nothing to do: it waits for the number of its next batch."""
_SHOWN_RANKS = 2
"""Of more ranks that wait for data, the workers are no detail of one sentence; nor is what each of more ranks waits for."""


def conclude(groups: Sequence[StackGroup], workers_of: Mapping[int, Sequence[Worker]]) -> str:
    """ "ranks 0-6 wait in all_reduce (train.py:231 step), rank 7 is in _try_get_data (train.py:38 main): its 4 workers are in
    D state (nfs_wait_bit_killable) on /data (nfs)"; "no stack could be read" without stacks. `workers_of`: rank -> its loader workers."""
    return sentence(groups, note=lambda entry: _of_workers(entry, workers_of))


def conclusion(job: Job) -> str:
    """`conclude` of a watched job; without stacks what the kernel says that the ranks wait for."""
    if not job.stacks.groups and (waits := _waits(job.ranks)):
        return f"{waits}; no stack could be read"
    return conclude(job.stacks.groups, {rank.rank: rank.workers for rank in job.ranks})


def conclusion_after_colon(job: Job) -> str:
    """To end a sentence with; "" where no stack was read."""
    return f": {conclusion(job)}" if job.stacks.groups else ""


def kernel_wait(rank: Rank) -> str | None:
    """ "another thread, or a lock (futex)": what it waits for by its system call and the kernel; None where neither says it."""
    return rank.stall.waits_for or waits_for(rank.process.wchan)


def _waits(ranks: Sequence[Rank]) -> str:
    """ "ranks 0-1 wait for a lock"; "" where the kernel does not say it of each."""
    by_wait: dict[str | None, list[int]] = {}
    for rank in ranks:
        if rank.is_alive:
            by_wait.setdefault(kernel_wait(rank), []).append(rank.rank)
    if None in by_wait or len(by_wait) > _SHOWN_RANKS:
        return ""
    return ", ".join(f"{named(numbers)} {do(numbers, 'wait')} for {what}" for what, numbers in by_wait.items())


def workers_do(workers: Sequence[Worker], whose: str) -> str:
    """ "its 4 workers are in D state (nfs_wait) on /data (nfs)", "1 of its 2 workers is in decode (data.py:12)": what most of
    those do that have something to do; "" without workers."""
    if not workers:
        return ""
    all_of_them = f"{whose} {len(workers)} worker{'s' if len(workers) > 1 else ''}"
    busy = [worker for worker in workers if not has_nothing_to_do(worker)]
    if not busy:
        return f"{all_of_them} {'wait' if len(workers) > 1 else 'waits'} for work"
    doing, count = Counter(_doing(worker) for worker in busy).most_common(1)[0]
    who = all_of_them if count == len(workers) else f"{count} of {all_of_them}"
    shown = next(worker for worker in busy if _doing(worker) == doing)
    return f"{who} {'is' if count == 1 else 'are'} {doing}{_on(shown.file) if shown.state == 'D' else ''}"


def _of_workers(entry: StackGroup, workers_of: Mapping[int, Sequence[Worker]]) -> str:
    if entry.phase != "data" or len(entry.ranks) > _SHOWN_RANKS:
        return ""
    workers = [worker for number in entry.ranks for worker in workers_of.get(number, ())]
    reported = workers_do(workers, "its" if len(entry.ranks) == 1 else "their")
    return f": {reported}" if reported else ""


def has_nothing_to_do(worker: Worker) -> bool:
    """Whether it is idle, so not what its rank waits for: nobody's code runs in it, and it waits at a queue for some."""
    leaf = worker.leaf
    if worker.state != "S" or leaf is None:
        return False
    name = short_name(leaf.name)
    return (leaf.short_filename, name) == _WITHOUT_WORK or waits_at_queue(name, leaf.short_filename)


def _doing(worker: Worker) -> str:
    if worker.state == "D":
        return "in D state" + (f" ({worker.wchan})" if worker.wchan and worker.wchan != "0" else "")
    if worker.state in ("T", "t"):
        return "stopped"
    if worker.leaf is not None:
        name, _, line = place(worker.leaf).rpartition(" ")
        return f"in {line} ({name})"
    return "running" if worker.state == "R" else "sleeping"


def _on(file: DataFile | None) -> str:
    if file is None:
        return ""
    return f" on {file.mount_point} ({file.fs_type})" if file.mount_point else f" on {file.path}"
