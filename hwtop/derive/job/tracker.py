"""The job over time: from process readings, stack dumps and log lines to ranks with phase, step and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hwtop.derive.host.kernel import KernelBook
from hwtop.derive.job.attach import Attachment
from hwtop.derive.job.began import job_began_s
from hwtop.derive.job.flame import flame_of
from hwtop.derive.job.flight import FlightTracker
from hwtop.derive.job.hang import HangWatch
from hwtop.derive.job.job_process import command_line, process_rows
from hwtop.derive.job.joiners import Joiners
from hwtop.derive.job.membership import Membership
from hwtop.derive.job.outlier_vote import OutlierVotes
from hwtop.derive.job.output import (
    local_world_size,
    log_targets,
    ranks_by_path,
    shared_with_absent,
    with_files,
    with_ranks,
)
from hwtop.derive.job.process import ProcessRates, process_rates
from hwtop.derive.job.rank import rank_now
from hwtop.derive.job.ras import RasTracker
from hwtop.derive.job.slot import RankProcesses, RankSlot
from hwtop.derive.logs.log import LogBook
from hwtop.derive.logs.metrics import MetricsBook, metrics_targets
from hwtop.job.hang.awaited import awaited_rank
from hwtop.job.launch.environment import restarts_of
from hwtop.job.launch.place import place_of
from hwtop.job.launch.spawner import is_joining, is_spawner
from hwtop.job.launch.tree import main_launcher
from hwtop.job.patterns.registry import Registry
from hwtop.job.stacks.groups import group
from hwtop.job.stacks.samples import StackSamples
from hwtop.model.job import Job, JobLogs, JobMetrics, JobPlace, JobStacks
from hwtop.model.member import Launcher, Member
from hwtop.model.plan import LogTarget
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.rank import Rank
from hwtop.model.reported.log import Progress
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackDump


class JobTracker:
    """Remembers seats, samples and logs; `advance` takes each snapshot in order."""

    def __init__(self, patterns: Registry | None = None) -> None:
        self._reading: ProcessReading | None = None
        self._membership = Membership()
        self._members: tuple[Member, ...] = ()
        self._targets: tuple[LogTarget, ...] = ()
        self._spawners: set[int] = set()
        self._rates: dict[int, ProcessRates] = {}
        self._slots: dict[int, RankSlot] = {}
        self._launcher: Launcher | None = None
        self._place: JobPlace | None = None
        self._samples = StackSamples()
        self._joiners = Joiners()
        self._progress: dict[int, Progress | None] = {}
        """PID of a rank -> the newest that its log reports."""
        self._votes = OutlierVotes()
        self._hang = HangWatch()
        self._attachment = Attachment()
        self._logs = LogBook(patterns)
        self._metrics_files = MetricsBook()
        self._kernel = KernelBook()
        self._flight = FlightTracker()
        self._ras = RasTracker()
        self._ranks_of: dict[str, tuple[int, ...]] = {}
        self._rank_of_pid: dict[int, int] = {}
        """Those of earlier attempts, too: a launcher tells of the dead when the next ones run already."""
        self._ended_at_s: float | None = None
        self._root_pid: int | None = None
        """The newest that was known."""
        self._halted_since_s: float | None = None

    def advance(self, snapshot: Snapshot) -> Job | None:
        """The job as this snapshot and those before it show it; None until its processes have been read."""
        self._kernel.advance(snapshot)
        reading = snapshot.process
        if reading is None:
            return None
        if self._reading is None or reading.at_s != self._reading.at_s:
            self._see(reading)
        on_device = {slot.processes.process.pid for slot in self._slots.values() if slot.gpus}
        if snapshot.stacks is not None:
            self._samples.take(snapshot.stacks, on_device)
        for dump in snapshot.stacks.dumps if snapshot.stacks else ():
            if self._has_ranks_below(dump, reading):
                self._spawners.add(dump.pid)
        self._attachment.advance(snapshot)
        if snapshot.logs is not None:
            self._ranks_of = with_files(self._ranks_of, snapshot.logs.files, self._rank_of_pid)
            began_s = job_began_s(reading, self._members)
            job_age_s = None if began_s is None else snapshot.time_s - began_s
            self._logs.rank_of_path = {target.path: target.rank for target in self._targets if target.rank is not None}
            self._logs.advance(snapshot.logs, self._ranks_of, self._rank_of_pid, job_age_s)
        job = self._kernel.complete(self._job(reading, snapshot), snapshot, self._members)
        job = self._metrics_files.complete(job, snapshot)
        self._progress = {rank.pid: rank.progress.newest for rank in job.ranks}
        for rank in job.ranks:
            if rank.progress.step_time_s is not None:
                self._samples.trains(rank.pid)
        job = self._hang.complete(job, snapshot, self._samples)
        return self._ras.advance(self._flight.advance(job, snapshot), snapshot)

    def _has_ranks_below(self, dump: StackDump, reading: ProcessReading) -> bool:
        if is_spawner(dump):
            return True
        if not is_joining(dump):
            self._joiners.works(dump.pid)
            return False
        children = [process for process in reading.processes if process.ppid == dump.pid]
        if any(self._samples.learns(process.pid) for process in children):
            return True
        # Nothing shows that they help, or have helped: a process of unknown purpose is taken for a loader worker of its parent.
        workers = {member.pid for member in self._members if member.role == "loader-worker"}
        unknown = sum(process.pid in workers or process.state == "Z" for process in children)
        return self._joiners.are_ranks_below(dump.pid, self._progress.get(dump.pid), unknown)

    def _see(self, reading: ProcessReading) -> None:
        self._rates = process_rates(self._reading, reading)
        self._members = self._membership.advance(reading.processes, self._spawners, reading.target_pid)
        self._targets = log_targets(reading, self._members)
        processes = {process.pid: process for process in reading.processes}
        seen = set()
        workers_of: dict[int | None, list[Member]] = {}
        for member in self._members:
            if member.role == "loader-worker":
                workers_of.setdefault(member.rank, []).append(member)
        for member in self._members:
            if member.role != "rank" or member.rank is None:
                continue
            of_rank = self._of_rank(member, workers_of.get(member.rank, []), processes)
            self._slots.setdefault(member.rank, RankSlot(of_rank)).update(of_rank, reading.at_s)
            self._rank_of_pid[member.pid] = member.rank
            seen.add(member.rank)
        self._see_waits(reading, processes)
        gone = {process.pid: process for process in reading.gone}
        for number, slot in self._slots.items():
            if number not in seen:
                slot.lost(gone.get(slot.processes.process.pid))
        self._see_launcher(processes)
        # who wrote to it stays known: the last words of a rank that died are not those of the rank that is left
        self._ranks_of = with_ranks(
            self._ranks_of, ranks_by_path([slot for slot in self._slots.values() if slot.is_alive])
        )
        shared = shared_with_absent(reading, self._members)
        self._ranks_of = with_ranks(self._ranks_of, {path: shared[path] for path in shared.keys() & self._ranks_of})
        self._forget(processes)
        is_over = reading.root_pid is None or not any(process.state not in ("Z", "X") for process in reading.processes)
        self._ended_at_s = (self._ended_at_s or reading.at_s) if is_over else None
        self._root_pid = self._root_pid if reading.root_pid is None else reading.root_pid
        self._hang.see(reading)
        self._samples.sleepers.see(reading)
        self._see_halt(reading)
        self._place = place_of(reading, self._members) or self._place
        self._reading = reading

    def _of_rank(
        self, member: Member, workers: Sequence[Member], processes: Mapping[int, ProcessInfo]
    ) -> RankProcesses:
        rated = [(processes[each.pid], self._rates.get(each.pid, ProcessRates())) for each in (member, *workers)]
        (process, rates), *others = rated
        return RankProcesses(member=member, process=process, rates=rates, workers=tuple(others))

    def _see_halt(self, reading: ProcessReading) -> None:
        """While a rank is stopped the others wait for it, and not because it is slow."""
        if any(slot.stopped_since_s is not None for slot in self._slots.values()):
            before = self._reading or reading  # it may have stopped right after that one
            self._halted_since_s = before.at_s if self._halted_since_s is None else self._halted_since_s
        elif self._halted_since_s is not None:
            self._samples.leave_out(self._halted_since_s, reading.at_s)
            self._halted_since_s = None

    def _see_waits(self, reading: ProcessReading, processes: Mapping[int, ProcessInfo]) -> None:
        ranks = {slot.processes.process.pid: number for number, slot in self._slots.items() if slot.is_alive}
        for slot in self._slots.values():
            slot.await_rank(awaited_rank(slot.processes.process, processes, ranks), reading.at_s)

    def _see_launcher(self, processes: Mapping[int, ProcessInfo]) -> None:
        member = main_launcher(self._members)
        if member is not None:
            self._launcher = Launcher(
                pid=member.pid, kind=member.launcher_kind or "launcher", command=command_line(processes[member.pid])
            )
        elif self._launcher is not None:
            self._launcher = replace(self._launcher, is_alive=False)

    def _forget(self, processes: Mapping[int, ProcessInfo]) -> None:
        ranks = {slot.processes.process.pid for slot in self._slots.values()}
        for process in self._reading.processes if self._reading else ():
            if process.pid not in processes and process.pid not in ranks:
                self._samples.forget(process.pid)

    def _job(self, reading: ProcessReading, snapshot: Snapshot) -> Job:
        ranks = tuple(self._rank(number, slot, snapshot) for number, slot in sorted(self._slots.items()))
        stacks = {
            rank.rank: stack_state.classified
            for rank in ranks
            if rank.is_alive and (stack_state := self._samples.stack_state(rank.pid)) is not None
        }
        groups = group(stacks)
        crews = [slot.processes for slot in self._slots.values()]
        world = [processes.member.world_size for processes in crews if processes.member.world_size is not None]
        return Job(
            target_pid=reading.target_pid,
            launcher=self._launcher,
            world_size=max(world, default=None),
            local_world_size=local_world_size(crew.process for crew in crews),
            ranks=ranks,
            processes=process_rows(reading, self._members, self._rates),
            logs=JobLogs(
                files=self._logs.files,
                events=tuple(event for event in self._logs.events if event.writer == "job"),
                unproven_events=tuple(event for event in self._logs.events if event.writer == "unknown"),
                lines=self._logs.lines,
                flagged_lines=self._logs.flagged_lines,
                targets=self._targets,
            ),
            metrics=JobMetrics(curves=self._logs.curves, targets=metrics_targets(reading, crews)),
            stacks=JobStacks(
                groups=groups,
                outlier_vote=self._votes.take(ranks, groups, snapshot.at_s),
                flame=flame_of(ranks, self._samples, snapshot),
                errors=self._attachment.errors,
                refusals=self._attachment.refusals({rank.pid: rank.rank for rank in ranks if rank.is_alive}),
                deep=self._attachment.deep,
            ),
            has_ended=self._ended_at_s is not None,
            ended_for_s=None if self._ended_at_s is None else snapshot.at_s - self._ended_at_s,
            exit_code=self._exit_code(reading, ranks) if self._ended_at_s is not None else None,
            place=self._place,
            restarts=max((n for c in crews if (n := restarts_of(c.process.env or {})) is not None), default=None),
            detail=snapshot.detail,
            sent_signals=snapshot.sent_signals,
        )

    def _exit_code(self, reading: ProcessReading, ranks: Sequence[Rank]) -> int | None:
        codes = {each.pid: each.exit_code for each in reading.processes} | {
            each.pid: each.exit_code for each in reading.gone
        }
        of_top = None if self._root_pid is None else codes.get(self._root_pid)
        return of_top or next((rank.exit_code for rank in ranks if rank.exit_code), of_top)

    def _rank(self, number: int, slot: RankSlot, snapshot: Snapshot) -> Rank:
        log = self._logs.of_rank(number, self._ranks_of, snapshot.at_s)
        reported_exit_code = self._logs.exit_codes.get(slot.processes.process.pid)
        return rank_now(number, slot, log, self._samples, snapshot, reported_exit_code)
