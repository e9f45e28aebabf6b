"""What must be remembered to tell a hang: since when each thread is blocked, each rank in its phase, the job in its rendezvous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.derive.job.idle_clock import IdleClock
from hwtop.job.hang.collective_timeout import backend_of, timeout_of
from hwtop.job.hang.liveness import rhythm_s, silent_s
from hwtop.job.hang.locks import lock_wait
from hwtop.job.hang.rank_state import rank_state, settled
from hwtop.job.hang.rendezvous import address_of, endpoint_of, nodes_of
from hwtop.job.stacks.frames import training_thread
from hwtop.job.stacks.samples import StackSamples
from hwtop.model.hang import Backend, BlockedThread, Rendezvous, WorkerLock
from hwtop.model.job import Job
from hwtop.model.process import ProcessInfo, ProcessReading, ThreadInfo
from hwtop.model.rank import Rank, RankStall
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackDump


class _Sleep(Struct):
    """A thread in D state."""

    since_s: float
    work: int
    """Context switches of a main thread, CPU ticks of another: a change means that it ran."""


class HangWatch:
    """Takes in every process reading and every job, in order; answers with the job completed."""

    def __init__(self) -> None:
        self._began_s: float | None = None
        """The first reading."""
        self._asleep: dict[tuple[int, int], _Sleep] = {}
        self._helpers: dict[int, IdleClock] = {}
        """By PID, of the processes that ranks started, loader workers aside."""
        self._helped_s: dict[int, float] = {}
        """Rank -> when one of these last worked."""
        self._backend: Backend | None = None

    def see(self, reading: ProcessReading) -> None:
        """Which threads are in D state, and have been all the time since the reading before.

        As the kernel's own hung task detector does (kernel/hung_task.c), D state counts only without a context switch.
        """
        self._began_s = reading.at_s if self._began_s is None else self._began_s
        asleep: dict[tuple[int, int], _Sleep] = {}
        for process in reading.processes:
            for thread in process.threads:
                if thread.state != "D":
                    continue
                key, work = (process.pid, thread.tid), _work(process, thread)
                before = self._asleep.get(key)
                is_same = before is not None and before.work == work
                asleep[key] = before if is_same and before is not None else _Sleep(reading.at_s, work)
        self._asleep = asleep

    def complete(self, job: Job, snapshot: Snapshot, samples: StackSamples) -> Job:
        """The job with what time tells of its ranks, their states, the collective's timeout and the rendezvous."""
        reading = snapshot.process
        if reading is None:
            return job
        processes = {process.pid: process for process in reading.processes}
        self._see_helpers(job, processes, reading.at_s)
        has_rhythm = any(rhythm_s(rank) is not None and not _pauses(rank) for rank in job.ranks)
        since_s = 0.0 if has_rhythm else self._began_s or 0.0
        ranks = settled([self._rank(rank, processes, samples, reading.at_s, since_s) for rank in job.ranks])
        threads = {pid: [thread.comm for thread in process.threads] for pid, process in processes.items()}
        named = backend_of(name for rank in ranks if rank.is_alive for name in threads.get(rank.pid, ()))
        self._backend = named or self._backend  # a rank that has ended has no threads
        dumps = snapshot.flight.dumps if snapshot.flight else ()
        slept_s = {rank.rank: rank.stall.asleep_for_s for rank in job.ranks}
        return replace(
            job,
            ranks=ranks,
            backend=self._backend,
            timeout=timeout_of(ranks, threads, job.logs.events, dumps),
            rendezvous=self._rendezvous(replace(job, ranks=ranks), slept_s, processes, snapshot, samples),
        )

    def _see_helpers(self, job: Job, processes: Mapping[int, ProcessInfo], at_s: float) -> None:
        clocks: dict[int, IdleClock] = {}
        for row in job.processes:
            if row.rank is None or row.role in ("rank", "loader-worker"):
                continue
            clock = clocks[row.pid] = self._helpers.get(row.pid) or IdleClock()
            clock.update(at_s, row.cpu_pct, processes[row.pid].idle_since_s)
            worked_s = at_s if clock.since_s is None else clock.since_s
            self._helped_s[row.rank] = max(worked_s, self._helped_s.get(row.rank, worked_s))
        self._helpers = clocks

    def _rank(
        self, rank: Rank, processes: Mapping[int, ProcessInfo], samples: StackSamples, at_s: float, since_s: float
    ) -> Rank:
        """`since_s`: rest before that does not count."""
        if not rank.is_alive:
            return replace(rank, state=rank_state(rank))
        helped_s = self._helped_s.get(rank.rank)
        idle_for_s = rank.stall.idle_for_s
        helpers_idle_for_s = None if helped_s is None else at_s - helped_s
        if helpers_idle_for_s is not None and idle_for_s is not None:
            idle_for_s = min(idle_for_s, helpers_idle_for_s)
        rank = replace(
            rank,
            stack=replace(rank.stack, phase_for_s=samples.phase_for_s(rank.pid)),
            stall=replace(
                rank.stall,
                idle_for_s=idle_for_s,
                helpers_idle_for_s=helpers_idle_for_s,
                blocked=self._blocked(rank, processes, at_s),
                worker_locks=_worker_locks(rank, samples),
            ),
        )
        rank = replace(rank, stall=_counted(rank.stall, at_s, since_s))
        return replace(rank, state=rank_state(rank))

    def _blocked(self, rank: Rank, processes: Mapping[int, ProcessInfo], at_s: float) -> BlockedThread | None:
        """The thread that sleeps longest; of several the rank's own, and the main one, comes first."""
        workers = {worker.pid for worker in rank.workers}
        found = []
        for (pid, tid), sleep in self._asleep.items():
            if pid != rank.pid and pid not in workers:
                continue
            process = processes[pid]
            thread = next(each for each in process.threads if each.tid == tid)
            found.append(
                BlockedThread(
                    pid=pid,
                    comm=thread.comm,
                    is_worker=pid in workers,
                    is_main=tid == pid,
                    for_s=at_s - sleep.since_s,
                    wchan=process.wchan if tid == pid else None,
                )
            )
        return max(found, key=lambda each: (each.for_s, not each.is_worker, each.is_main), default=None)

    def _rendezvous(
        self,
        job: Job,
        slept_s: Mapping[int, float | None],
        processes: Mapping[int, ProcessInfo],
        snapshot: Snapshot,
        samples: StackSamples,
    ) -> Rendezvous | None:
        live = [rank for rank in job.ranks if rank.is_alive]
        if not live:
            return self._launcher_waits(job, processes, snapshot, samples)
        if not all(rank.stack.phase == "rendezvous" and rank.stack.phase_for_s is not None for rank in live):
            return None
        # The kernel tells of the time before hwtop looked, too: a main thread that did not run has been in this call since.
        waits = [max(rank.stack.phase_for_s or 0.0, slept_s.get(rank.rank) or 0.0) for rank in live]
        ages = [rank.process.age_s for rank in live if rank.process.age_s is not None]
        addresses = [address for rank in live if (address := address_of(processes[rank.pid].env or {}))]
        return Rendezvous(
            waiting_s=min(waits),
            watched_s=min(rank.stack.phase_for_s or 0.0 for rank in live),
            age_s=min(ages, default=None),
            ranks=tuple(rank.rank for rank in live),
            expected=job.world_size,
            here=len(live),
            address=next(iter(addresses), None),
        )

    def _launcher_waits(
        self, job: Job, processes: Mapping[int, ProcessInfo], snapshot: Snapshot, samples: StackSamples
    ) -> Rendezvous | None:
        launcher, reading = job.launcher, snapshot.process
        if launcher is None or launcher.pid not in processes or reading is None:
            return None
        waiting_s, stack_state = samples.phase_for_s(launcher.pid), samples.stack_state(launcher.pid)
        if waiting_s is None or stack_state is None or stack_state.classified.phase != "rendezvous":
            return None
        started_s = processes[launcher.pid].start_ticks / reading.ticks_per_s
        boot_s = reading.boot_time_s
        return Rendezvous(
            waiting_s=waiting_s,
            watched_s=waiting_s,
            age_s=None if boot_s is None else snapshot.time_s - boot_s - started_s,
            ranks=(),
            launcher_pid=launcher.pid,
            expected=nodes_of(launcher.command),
            here=1,
            address=endpoint_of(launcher.command),
        )


def _pauses(rank: Rank) -> bool:
    """Its log has a gap as long as this one: rounds at fixed times, evaluations that report nothing."""
    silence_s = silent_s(rank)
    return silence_s is not None and (rank.log.longest_gap_s or 0.0) >= silence_s


def _counted(stall: RankStall, at_s: float, since_s: float) -> RankStall:
    """Rest from before the first reading counts only where a rhythm is known that makes it unusual."""

    def most(seconds: float | None) -> float | None:
        return None if seconds is None else min(seconds, at_s - since_s)

    return replace(
        stall,
        asleep_since_s=None if stall.asleep_since_s is None else max(stall.asleep_since_s, since_s),
        asleep_for_s=most(stall.asleep_for_s),
        idle_for_s=most(stall.idle_for_s),
        same_stack_for_s=most(stall.same_stack_for_s),
        same_function_for_s=most(stall.same_function_for_s),
    )


def _work(process: ProcessInfo, thread: ThreadInfo) -> int:
    switches = process.switches if thread.tid == process.pid else None
    return thread.cpu_ticks if switches is None else switches


def _worker_locks(rank: Rank, samples: StackSamples) -> tuple[WorkerLock, ...]:
    """Workers whose every thread waits for a lock of the process itself."""
    if rank.stack.phase != "data":
        return ()
    found = []
    for worker in rank.workers:
        dump = samples.newest(worker.pid)
        wait = _orphaned(dump) if dump is not None else None
        if wait is not None:
            found.append(wait)
    return tuple(found)


def _orphaned(dump: StackDump) -> WorkerLock | None:
    main = training_thread(dump)
    wait = lock_wait(main) if main is not None else None
    others: Sequence[object] = [thread for thread in dump.threads if thread != main and lock_wait(thread) is None]
    if wait is None or wait.kind != "lock" or others:
        return None
    return WorkerLock(pid=dump.pid, wait=wait)
