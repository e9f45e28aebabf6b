"""The job over time: from process readings, stack dumps and log lines to ranks with phase, step and state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from hwtop.derive.log import LogBook
from hwtop.derive.output import log_targets, ranks_by_path
from hwtop.derive.process import ProcessRates, process_rates
from hwtop.derive.seat import Crew, Seat
from hwtop.job.frames import leaf_of, normalise, training_thread
from hwtop.job.gpu_owner import gpus_of
from hwtop.job.phase import is_waiting, phase_of
from hwtop.job.rank_state import rank_state, settled
from hwtop.job.stack_groups import group
from hwtop.job.stack_samples import StackSamples
from hwtop.job.tree import members
from hwtop.model.gpu import Gpu
from hwtop.model.job import Job, JobProcess, Launcher, Member, Rank, Worker
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import ThreadStack

_DUMP_IS_NEW_S = 30.0
"""An older dump says nothing about now."""


class JobTracker:
    """Remembers seats, samples and logs; `advance` takes each snapshot in order."""

    def __init__(self) -> None:
        self._reading: ProcessReading | None = None
        self._members: tuple[Member, ...] = ()
        self._rates: dict[int, ProcessRates] = {}
        self._seats: dict[int, Seat] = {}
        self._launcher: Launcher | None = None
        self._samples = StackSamples()
        self._stack_errors: dict[int, tuple[str, str]] = {}
        self._logs = LogBook()
        self._ranks_of: dict[str, tuple[int, ...]] = {}
        self._ended_at_s: float | None = None

    def advance(self, snapshot: Snapshot) -> Job | None:
        """The job as this snapshot and those before it show it; None until its processes have been read."""
        reading = snapshot.process
        if reading is None:
            return None
        if self._reading is None or reading.at_s != self._reading.at_s:
            self._see(reading)
        for dump in snapshot.stacks.dumps if snapshot.stacks else ():
            self._samples.add(dump)
            if dump.error is None:
                self._stack_errors.pop(dump.pid, None)
            else:
                self._stack_errors[dump.pid] = (dump.error, dump.advice or "")
        if snapshot.logs is not None:
            rank_of = {seat.crew.process.pid: number for number, seat in self._seats.items()}
            self._logs.advance(snapshot.logs, self._ranks_of, rank_of)
        return self._job(reading, snapshot)

    def _see(self, reading: ProcessReading) -> None:
        self._rates = process_rates(self._reading, reading)
        self._members = members(reading.processes, self._members)
        processes = {process.pid: process for process in reading.processes}
        seen = set()
        for member in self._members:
            if member.role != "rank" or member.rank is None:
                continue
            crew = self._crew(member, processes)
            self._seats.setdefault(member.rank, Seat(crew)).sit(crew, reading.at_s)
            seen.add(member.rank)
        gone = {process.pid: process for process in reading.gone}
        for number, seat in self._seats.items():
            if number not in seen:
                seat.leave(gone.get(seat.crew.process.pid))
        self._see_launcher(processes)
        for path, ranks in ranks_by_path([seat for seat in self._seats.values() if seat.is_alive]).items():
            # who wrote to it stays known: the last words of a rank that died are not those of the rank that is left
            self._ranks_of[path] = tuple(sorted({*self._ranks_of.get(path, ()), *ranks}))
        self._forget(processes)
        is_over = reading.root_pid is None or not any(process.state not in ("Z", "X") for process in reading.processes)
        self._ended_at_s = (self._ended_at_s or reading.at_s) if is_over else None
        self._reading = reading

    def _crew(self, member: Member, processes: Mapping[int, ProcessInfo]) -> Crew:
        workers = tuple(
            (processes[other.pid], self._rates.get(other.pid, ProcessRates()))
            for other in self._members
            if other.role == "loader-worker" and other.rank == member.rank
        )
        rates = self._rates.get(member.pid, ProcessRates())
        return Crew(member=member, process=processes[member.pid], rates=rates, workers=workers)

    def _see_launcher(self, processes: Mapping[int, ProcessInfo]) -> None:
        member = next((member for member in self._members if member.role == "launcher"), None)
        if member is not None:
            self._launcher = Launcher(
                pid=member.pid, kind=member.launcher_kind or "launcher", command=_command(processes[member.pid])
            )
        elif self._launcher is not None:
            self._launcher = replace(self._launcher, is_alive=False)

    def _forget(self, processes: Mapping[int, ProcessInfo]) -> None:
        for pid in [pid for pid in self._stack_errors if pid not in processes]:
            del self._stack_errors[pid]
        for process in self._reading.processes if self._reading else ():
            if process.pid not in processes and not any(
                s.crew.process.pid == process.pid for s in self._seats.values()
            ):
                self._samples.forget(process.pid)

    def _job(self, reading: ProcessReading, snapshot: Snapshot) -> Job:
        gpus = snapshot.gpu.gpus if snapshot.gpu else ()
        ranks = settled([self._rank(number, seat, gpus, snapshot) for number, seat in sorted(self._seats.items())])
        stacks = {
            rank.rank: thread
            for rank in ranks
            if rank.is_alive and rank.stack is not None and (thread := training_thread(rank.stack)) is not None
        }
        crews = [seat.crew for seat in self._seats.values()]
        world = [crew.member.world_size for crew in crews if crew.member.world_size is not None]
        local = [
            int(size) for crew in crews if (size := (crew.process.env or {}).get("LOCAL_WORLD_SIZE", "")).isdigit()
        ]
        return Job(
            target_pid=reading.target_pid,
            launcher=self._launcher,
            world_size=max(world, default=None),
            local_world_size=max(local, default=None),
            ranks=ranks,
            processes=self._processes(reading),
            stack_groups=group(stacks),
            log_files=self._logs.files,
            events=self._logs.events,
            lines=self._logs.lines,
            has_ended=self._ended_at_s is not None,
            ended_for_s=None if self._ended_at_s is None else snapshot.at_s - self._ended_at_s,
            log_targets=log_targets(reading, self._members),
            stack_errors=tuple(dict.fromkeys(self._stack_errors.values())),
        )

    def _rank(self, number: int, seat: Seat, gpus: Sequence[Gpu], snapshot: Snapshot) -> Rank:
        at_s = snapshot.at_s
        crew, process, log = seat.crew, seat.crew.process, self._logs.of_rank(number, self._ranks_of, at_s)
        seat.gpus = gpus_of(process, crew.member.local_rank, gpus) or seat.gpus
        rank = Rank(
            rank=number,
            pid=process.pid,
            local_rank=crew.member.local_rank,
            gpus=seat.gpus,
            is_alive=seat.is_alive,
            exit_code=seat.exit_code if seat.exit_code is not None else self._told_exit_code(seat),
            gone_at_s=seat.gone_at_s,
            os_state=process.state if seat.is_alive else "X",
            log=log.path,
            log_age_s=log.age_s,
            last_line=log.last_line,
            progress=log.progress,
            step_time_s=log.step_time_s,
            step_age_s=log.step_age_s,
            step_told_at_s=log.step_told_at_s,
            log_interval_s=log.log_interval_s,
        )
        if seat.is_alive:
            rank = _with_process(rank, seat, snapshot, self._worker_rows(crew, at_s))
            rank = self._with_stack(rank, at_s)
        return replace(rank, state=rank_state(rank))

    def _told_exit_code(self, seat: Seat) -> int | None:
        """The kernel tells it to the parent only; torchrun writes it into its log."""
        return None if seat.is_alive else self._logs.exit_codes.get(seat.crew.process.pid)

    def _worker_rows(self, crew: Crew, at_s: float) -> tuple[Worker, ...]:
        rows = []
        for process, rates in crew.workers:
            thread = self._thread_now(process.pid, at_s)
            rows.append(
                Worker(
                    pid=process.pid,
                    state=process.state,
                    cpu_pct=rates.cpu_pct,
                    rss_bytes=process.rss_bytes,
                    wchan=process.wchan,
                    read_bytes_per_s=rates.read_bytes_per_s,
                    leaf=leaf_of(normalise(thread)) if thread is not None else None,
                )
            )
        return tuple(rows)

    def _thread_now(self, pid: int, at_s: float) -> ThreadStack | None:
        dump = self._samples.newest(pid)
        return training_thread(dump) if dump is not None and at_s - dump.at_s < _DUMP_IS_NEW_S else None

    def _with_stack(self, rank: Rank, at_s: float) -> Rank:
        shares, wait_share, samples = self._samples.shares(rank.pid, at_s)
        workers = [self._samples.hot(worker.pid) for worker in rank.workers]
        thread = self._thread_now(rank.pid, at_s)
        phase = phase_of(thread) if thread is not None else None
        return replace(
            rank,
            stack=self._samples.newest(rank.pid),
            phase=phase,
            is_waiting=is_waiting(thread, phase) if thread is not None and phase is not None else None,
            phase_shares=shares,
            wait_share=wait_share,
            samples=samples,
            same_stack_for_s=self._samples.same_stack_for_s(rank.pid, at_s),
            hot=self._samples.hot(rank.pid),
            worker_hot=max(workers, key=lambda spots: spots[0].samples if spots else 0, default=()),
        )

    def _processes(self, reading: ProcessReading) -> tuple[JobProcess, ...]:
        by_pid = {process.pid: process for process in reading.processes}
        return tuple(_row(member, by_pid[member.pid], self._rates) for member in self._members)


def _with_process(rank: Rank, seat: Seat, snapshot: Snapshot, workers: tuple[Worker, ...]) -> Rank:
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
        age_s=None if age_s is None else max(0.0, age_s),
        cpu_pct=rates.cpu_pct,
        tree_cpu_pct=None if rates.cpu_pct is None else sum(value for value in cpu if value is not None),
        main_thread_cpu_pct=rates.main_thread_cpu_pct,
        runnable_threads=sum(thread.state == "R" for each in everyone for thread in each.threads),
        thread_count=process.thread_count,
        rss_bytes=process.rss_bytes,
        anon_bytes=process.anon_bytes,
        tree_anon_bytes=_sum(each.anon_bytes for each in everyone),
        read_bytes_per_s=rates.read_bytes_per_s,
        written_bytes_per_s=rates.written_bytes_per_s,
        workers=workers,
        idle_for_s=None if rates.cpu_pct is None else reading.at_s - (seat.idle_since_s or reading.at_s),
    )


def _row(member: Member, process: ProcessInfo, rates: Mapping[int, ProcessRates]) -> JobProcess:
    rate = rates.get(member.pid, ProcessRates())
    return JobProcess(
        pid=member.pid,
        ppid=member.ppid,
        depth=member.depth,
        role=member.role,
        rank=member.rank,
        state=process.state,
        cpu_pct=rate.cpu_pct,
        rss_bytes=process.rss_bytes,
        thread_count=process.thread_count,
        read_bytes_per_s=rate.read_bytes_per_s,
        written_bytes_per_s=rate.written_bytes_per_s,
        fd_count=process.fd_count,
        wchan=process.wchan,
        threads=_count([thread.comm for thread in process.threads]),
        thread_states=_count([thread.state for thread in process.threads]),
        command=_command(process),
        caught_signals=process.caught_signals,
    )


def _command(process: ProcessInfo) -> str:
    return " ".join(process.cmdline) if process.cmdline else f"[{process.comm}]"


def _count(names: Sequence[str]) -> dict[str, int]:
    return {name: names.count(name) for name in dict.fromkeys(names)}


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
