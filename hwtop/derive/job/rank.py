"""One rank as it stands: what its process, its workers, its logs and its stacks tell, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from hwtop.derive.job.data_file import data_file
from hwtop.derive.job.slot import RankSlot
from hwtop.derive.logs.log import LogReport
from hwtop.job.gpu_owner import gpus_of
from hwtop.job.kernel.wait import wait_kind
from hwtop.job.kernel.waits_on import awaited, waits_on
from hwtop.job.launch.launcher import is_named_loader
from hwtop.job.stacks.frames import leaf_of
from hwtop.job.stacks.samples import StackSamples
from hwtop.job.stacks.series import GAP_S, StackState
from hwtop.model.gpu.device import Gpu
from hwtop.model.host.disk import MountReading
from hwtop.model.process import ProcessInfo
from hwtop.model.rank import Rank, RankProcess, RankStall, Worker
from hwtop.model.rank_stack import RankStack
from hwtop.model.snapshot import Snapshot

_NO_POLL_S = 5.0
"""Code that polls sleeps for a shorter time. Engineering default."""


def rank_now(
    number: int,
    slot: RankSlot,
    report: LogReport,
    samples: StackSamples,
    snapshot: Snapshot,
    reported_exit_code: int | None,
) -> Rank:
    """The rank at the time of `snapshot`, before its state is judged (`hwtop.derive.job.hang`).

    `reported_exit_code` is what a launcher wrote about it: the kernel tells its exit code to the parent only.
    """
    processes, process = slot.processes, slot.processes.process
    gpus: Sequence[Gpu] = snapshot.gpu.gpus if snapshot.gpu else ()
    used = gpus_of(process, processes.member.local_rank, gpus)
    slot.gpus = used.indexes or slot.gpus
    log = report.log
    rank = Rank(
        rank=number,
        pid=process.pid,
        local_rank=processes.member.local_rank,
        gpus=slot.gpus,
        gpus_reason=None if slot.gpus else used.reason,
        is_alive=slot.is_alive,
        exit_code=reported_exit_code if slot.exit_code is None and not slot.is_alive else slot.exit_code,
        gone_at_s=slot.gone_at_s,
        log=replace(log, last_line=slot.error or log.last_line),
        progress=report.progress,
    )
    if slot.is_alive:
        rank = _with_process(rank, slot, samples, snapshot)
        rank = replace(rank, workers=_workers(slot, samples, snapshot))
        return _with_waits(_with_stack(rank, samples, snapshot.at_s), slot)
    return replace(rank, stack=RankStack(dump=samples.newest(rank.pid)))  # where it was last seen


def _workers(slot: RankSlot, samples: StackSamples, snapshot: Snapshot) -> tuple[Worker, ...]:
    at_s = snapshot.at_s
    outputs = {file.target for file in slot.processes.process.files if file.is_writable}
    by_pid = _by_pid(snapshot)
    rows = []
    for process, rates in slot.processes.workers:
        stack_state = _stack_state_now(process.pid, samples, at_s)
        rows.append(
            Worker(
                pid=process.pid,
                state=process.state,
                cpu_pct=rates.cpu_pct,
                rss_bytes=process.rss_bytes,
                wchan=process.wchan,
                is_named_loader=is_named_loader(process),
                call=process.call,
                waits_for=waits_on(process, (), by_pid),
                read_bytes_per_s=rates.read_bytes_per_s,
                read_chars_per_s=rates.read_chars_per_s,
                leaf=leaf_of(stack_state.classified.path) if stack_state is not None else None,
                exit_code=process.exit_code,
                same_stack_for_s=samples.same_stack_for_s(process.pid, at_s),
                file=data_file(process, _mounts(snapshot), outputs),
            )
        )
    return tuple(rows)


def _by_pid(snapshot: Snapshot) -> dict[int, ProcessInfo]:
    return {process.pid: process for process in snapshot.process.processes} if snapshot.process else {}


def _stack_state_now(pid: int, samples: StackSamples, at_s: float) -> StackState | None:
    stack_state = samples.stack_state(pid)
    if stack_state is None:
        return None
    sleep = samples.sleep(pid)
    known_to_s = stack_state.dump.at_s if sleep is None else sleep.seen_s
    return stack_state if at_s - known_to_s < GAP_S else None


def _with_stack(rank: Rank, samples: StackSamples, at_s: float) -> Rank:
    shares = samples.shares(rank.pid, at_s)
    workers = [samples.hot(worker.pid) for worker in rank.workers]
    stack_state = _stack_state_now(rank.pid, samples, at_s)
    stack = RankStack(
        dump=samples.newest(rank.pid),
        phase=stack_state.classified.phase if stack_state is not None else None,
        is_waiting=stack_state.is_waiting and not _sleeps_long(rank, at_s) if stack_state is not None else None,
        shares=shares.phases,
        wait_share=shares.wait,
        barrier_share=shares.barrier,
        samples=shares.samples,
        wait_samples=shares.wait_samples,
        hot=samples.hot(rank.pid),
        hot_lines=samples.lines(rank.pid, at_s),
        grown=samples.grown(rank.pid, at_s),
        intervals=samples.intervals(rank.pid),
        worker_hot=max(workers, key=lambda spots: spots[0].samples if spots else 0, default=()),
    )
    stall = replace(
        rank.stall,
        same_stack_for_s=samples.same_stack_for_s(rank.pid, at_s),
        same_function_for_s=samples.same_function_for_s(rank.pid, at_s),
        held=samples.held(rank.pid, at_s),
    )
    return replace(rank, stack=stack, stall=stall)


def _with_waits(rank: Rank, slot: RankSlot) -> Rank:
    """What its stacks do not show: that it waits for another rank at a pipe or socket of its own."""
    waits, readings = slot.waits
    if not waits:
        return rank
    share = max(waits / readings, rank.stack.wait_share or 0.0)
    is_seen = share > (rank.stack.wait_share or 0.0)
    stack = replace(
        rank.stack,
        is_waiting=slot.awaits_rank is not None or rank.stack.is_waiting,
        wait_share=share,
        barrier_share=0.0 if is_seen else rank.stack.barrier_share,
        wait_samples=readings if is_seen else rank.stack.wait_samples,
    )
    return replace(rank, stack=stack, stall=replace(rank.stall, awaits_rank=slot.awaits_rank))


def _sleeps_long(rank: Rank, at_s: float) -> bool:
    """In one sleep for a time of its own choice, longer than any that polls: that waits for no other rank, wherever it is called."""
    since_s, process = rank.stall.asleep_since_s, rank.process
    kind = wait_kind(process.os_state, process.wchan, process.call)
    return kind == "sleep" and since_s is not None and at_s - since_s >= _NO_POLL_S


def _with_process(rank: Rank, slot: RankSlot, samples: StackSamples, snapshot: Snapshot) -> Rank:
    sleep = samples.sleepers.of(rank.pid)
    reading = snapshot.process
    assert reading is not None
    process, rates = slot.processes.process, slot.processes.rates
    everyone = (process, *(worker for worker, _ in slot.processes.workers))
    cpu = [each.cpu_pct for each in (rates, *(worker for _, worker in slot.processes.workers))]
    boot_s = reading.boot_time_s
    age_s = None if boot_s is None else snapshot.time_s - boot_s - process.start_ticks / reading.ticks_per_s
    of_process = RankProcess(
        os_state=process.state,
        tracer_pid=process.tracer_pid or None,
        wchan=process.wchan,
        age_s=None if age_s is None else max(0.0, age_s),
        cpu_pct=rates.cpu_pct,
        tree_cpu_pct=None if rates.cpu_pct is None else sum(value for value in cpu if value is not None),
        main_thread_cpu_pct=rates.main_thread_cpu_pct,
        run_delay_pct=rates.run_delay_pct,
        allowed_cpus=process.allowed_cpus,
        call=process.call,
        cpu=process.cpu,
        runnable_threads=sum(thread.state == "R" for each in everyone for thread in each.threads),
        thread_count=process.thread_count,
        rss_bytes=process.rss_bytes,
        anon_bytes=process.anon_bytes,
        tree_anon_bytes=_sum(each.anon_bytes for each in everyone),
        read_bytes_per_s=rates.read_bytes_per_s,
        written_bytes_per_s=rates.written_bytes_per_s,
        file=data_file(process, _mounts(snapshot), () if rank.log.path is None else (rank.log.path,)),
    )
    children = [each for each in reading.processes if each.ppid == process.pid and each not in everyone]
    workers = {worker.pid for worker, _ in slot.processes.workers}
    other = awaited(process, _by_pid(snapshot))
    stall = RankStall(
        awaits=None if other is None or other.pid in workers else other,
        waits_for=waits_on(process, children, _by_pid(snapshot)),
        asleep_since_s=None if sleep is None else sleep.since_s,
        asleep_for_s=None if sleep is None else reading.at_s - sleep.since_s,
        woken_every_s=samples.sleepers.longest_s(rank.pid),
        idle_for_s=None if rates.cpu_pct is None else reading.at_s - (slot.idle_since_s or reading.at_s),
        stopped_for_s=None if slot.stopped_since_s is None else reading.at_s - slot.stopped_since_s,
    )
    return replace(rank, process=of_process, stall=stall)


def _mounts(snapshot: Snapshot) -> Sequence[MountReading]:
    return snapshot.disk.mounts if snapshot.disk else ()


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
