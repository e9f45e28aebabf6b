"""One rank as it stands: what its process, its workers, its logs and its stacks tell, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from hwtop.derive.data_file import data_file
from hwtop.derive.log import RankLog
from hwtop.derive.seat import Seat
from hwtop.job.gpu_owner import gpus_of
from hwtop.job.stacks.frames import leaf_of
from hwtop.job.stacks.samples import StackSamples
from hwtop.job.stacks.series import Standing
from hwtop.job.stacks.sleep import Sleep
from hwtop.model.disk import MountReading
from hwtop.model.gpu import Gpu
from hwtop.model.rank import Rank, Worker
from hwtop.model.snapshot import Snapshot

_DUMP_IS_NEW_S = 30.0
"""An older dump says nothing about now."""


def rank_now(
    number: int, seat: Seat, log: RankLog, samples: StackSamples, snapshot: Snapshot, told_exit_code: int | None
) -> Rank:
    """The rank at the time of `snapshot`, before its state is judged (`hwtop.derive.hang`).

    `told_exit_code` is what a launcher wrote about it: the kernel tells its exit code to the parent only.
    """
    crew, process = seat.crew, seat.crew.process
    gpus: Sequence[Gpu] = snapshot.gpu.gpus if snapshot.gpu else ()
    used = gpus_of(process, crew.member.local_rank, gpus)
    seat.gpus = used.indexes or seat.gpus
    rank = Rank(
        rank=number,
        pid=process.pid,
        local_rank=crew.member.local_rank,
        gpus=seat.gpus,
        gpus_reason=None if seat.gpus else used.reason,
        is_alive=seat.is_alive,
        exit_code=told_exit_code if seat.exit_code is None and not seat.is_alive else seat.exit_code,
        gone_at_s=seat.gone_at_s,
        os_state=process.state if seat.is_alive else "X",
        log=log.path,
        log_age_s=log.age_s,
        last_line=seat.error or log.last_line,
        progress=log.progress,
        step_time_s=log.step_time_s,
        step_age_s=log.step_age_s,
        step_told_at_s=log.step_told_at_s,
        log_interval_s=log.log_interval_s,
    )
    if seat.is_alive:
        rank = _with_process(rank, seat, samples.sleepers.of(rank.pid), snapshot)
        rank = replace(rank, workers=_workers(seat, samples, snapshot))
        rank = _with_stack(rank, samples, snapshot.at_s)
    return rank


def _workers(seat: Seat, samples: StackSamples, snapshot: Snapshot) -> tuple[Worker, ...]:
    at_s = snapshot.at_s
    outputs = {file.target for file in seat.crew.process.files if file.is_writable}
    rows = []
    for process, rates in seat.crew.workers:
        standing = _standing_now(process.pid, samples, at_s)
        rows.append(
            Worker(
                pid=process.pid,
                state=process.state,
                cpu_pct=rates.cpu_pct,
                rss_bytes=process.rss_bytes,
                wchan=process.wchan,
                read_bytes_per_s=rates.read_bytes_per_s,
                read_chars_per_s=rates.read_chars_per_s,
                leaf=leaf_of(standing.meaning.path) if standing is not None else None,
                exit_code=process.exit_code,
                same_stack_for_s=samples.same_stack_for_s(process.pid, at_s),
                file=data_file(process, _mounts(snapshot), outputs),
            )
        )
    return tuple(rows)


def _standing_now(pid: int, samples: StackSamples, at_s: float) -> Standing | None:
    standing = samples.standing(pid)
    if standing is None:
        return None
    sleep = samples.sleep(pid)
    known_to_s = standing.dump.at_s if sleep is None else sleep.seen_s
    return standing if at_s - known_to_s < _DUMP_IS_NEW_S else None


def _with_stack(rank: Rank, samples: StackSamples, at_s: float) -> Rank:
    if rank.step_time_s is not None:
        samples.trains(rank.pid)
    shares = samples.shares(rank.pid, at_s)
    workers = [samples.hot(worker.pid) for worker in rank.workers]
    standing = _standing_now(rank.pid, samples, at_s)
    return replace(
        rank,
        stack=samples.newest(rank.pid),
        phase=standing.meaning.phase if standing is not None else None,
        is_waiting=standing.is_waiting if standing is not None else None,
        phase_shares=shares.phases,
        wait_share=shares.wait,
        samples=shares.samples,
        wait_samples=shares.wait_samples,
        same_stack_for_s=samples.same_stack_for_s(rank.pid, at_s),
        hot=samples.hot(rank.pid),
        hot_lines=samples.lines(rank.pid, at_s),
        spells=samples.spells(rank.pid),
        held=samples.held(rank.pid, at_s),
        worker_hot=max(workers, key=lambda spots: spots[0].samples if spots else 0, default=()),
    )


def _with_process(rank: Rank, seat: Seat, sleep: Sleep | None, snapshot: Snapshot) -> Rank:
    reading = snapshot.process
    assert reading is not None
    process, rates = seat.crew.process, seat.crew.rates
    everyone = (process, *(worker for worker, _ in seat.crew.workers))
    cpu = [each.cpu_pct for each in (rates, *(worker for _, worker in seat.crew.workers))]
    boot_s = reading.boot_time_s
    age_s = None if boot_s is None else snapshot.time_s - boot_s - process.start_ticks / reading.ticks_per_s
    return replace(
        rank,
        stopped_for_s=None if seat.stopped_since_s is None else reading.at_s - seat.stopped_since_s,
        tracer_pid=process.tracer_pid or None,
        wchan=process.wchan,
        file=data_file(process, _mounts(snapshot), () if rank.log is None else (rank.log,)),
        age_s=None if age_s is None else max(0.0, age_s),
        cpu_pct=rates.cpu_pct,
        tree_cpu_pct=None if rates.cpu_pct is None else sum(value for value in cpu if value is not None),
        main_thread_cpu_pct=rates.main_thread_cpu_pct,
        cpu=process.cpu,
        runnable_threads=sum(thread.state == "R" for each in everyone for thread in each.threads),
        thread_count=process.thread_count,
        rss_bytes=process.rss_bytes,
        anon_bytes=process.anon_bytes,
        tree_anon_bytes=_sum(each.anon_bytes for each in everyone),
        read_bytes_per_s=rates.read_bytes_per_s,
        written_bytes_per_s=rates.written_bytes_per_s,
        asleep_since_s=None if sleep is None else sleep.since_s,
        idle_for_s=None if rates.cpu_pct is None else reading.at_s - (seat.idle_since_s or reading.at_s),
    )


def _mounts(snapshot: Snapshot) -> Sequence[MountReading]:
    return snapshot.disk.mounts if snapshot.disk else ()


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
