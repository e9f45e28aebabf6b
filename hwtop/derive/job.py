"""The job over time: from process readings, stack dumps and log lines to ranks with phase, step and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hwtop.derive.attach import Attachment
from hwtop.derive.flame import flame_of
from hwtop.derive.flight import FlightTracker
from hwtop.derive.hang import HangWatch
from hwtop.derive.job_process import command_line, process_rows
from hwtop.derive.kernel import KernelBook
from hwtop.derive.log import LogBook
from hwtop.derive.output import log_targets, ranks_by_path, with_files
from hwtop.derive.process import ProcessRates, process_rates
from hwtop.derive.rank import rank_now
from hwtop.derive.seat import Crew, Seat
from hwtop.derive.slow_vote import SlowVotes
from hwtop.derive.witness import WitnessBook, witness_targets
from hwtop.job.launch.environment import restarts_of
from hwtop.job.launch.place import place_of
from hwtop.job.launch.spawner import is_spawner
from hwtop.job.launch.tree import main_launcher, members
from hwtop.job.patterns.registry import Registry
from hwtop.job.stacks.groups import group
from hwtop.job.stacks.samples import StackSamples
from hwtop.model.job import Job, JobPlace
from hwtop.model.member import Launcher, Member
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.rank import Rank
from hwtop.model.snapshot import Snapshot


class JobTracker:
    """Remembers seats, samples and logs; `advance` takes each snapshot in order."""

    def __init__(self, patterns: Registry | None = None) -> None:
        self._reading: ProcessReading | None = None
        self._members: tuple[Member, ...] = ()
        self._spawners: set[int] = set()
        self._rates: dict[int, ProcessRates] = {}
        self._seats: dict[int, Seat] = {}
        self._launcher: Launcher | None = None
        self._place: JobPlace | None = None
        self._samples = StackSamples()
        self._votes = SlowVotes()
        self._hang = HangWatch()
        self._attachment = Attachment()
        self._logs = LogBook(patterns)
        self._witnesses = WitnessBook()
        self._kernel = KernelBook()
        self._flight = FlightTracker()
        self._ranks_of: dict[str, tuple[int, ...]] = {}
        self._rank_of_pid: dict[int, int] = {}
        """Those of earlier attempts, too: a launcher tells of the dead when the next ones run already."""
        self._ended_at_s: float | None = None
        self._halted_since_s: float | None = None

    def advance(self, snapshot: Snapshot) -> Job | None:
        """The job as this snapshot and those before it show it; None until its processes have been read."""
        self._kernel.advance(snapshot)
        reading = snapshot.process
        if reading is None:
            return None
        if self._reading is None or reading.at_s != self._reading.at_s:
            self._see(reading)
        on_device = {seat.crew.process.pid for seat in self._seats.values() if seat.gpus}
        if snapshot.stacks is not None:
            self._samples.take(snapshot.stacks, on_device)
        for dump in snapshot.stacks.dumps if snapshot.stacks else ():
            if is_spawner(dump):
                self._spawners.add(dump.pid)
        self._attachment.advance(snapshot)
        if snapshot.logs is not None:
            self._ranks_of = with_files(self._ranks_of, snapshot.logs.files, self._rank_of_pid)
            self._logs.advance(snapshot.logs, self._ranks_of, self._rank_of_pid)
        job = self._kernel.complete(self._job(reading, snapshot), snapshot, self._members)
        job = self._witnesses.complete(job, snapshot)
        job = self._hang.complete(job, snapshot, self._samples)
        return self._flight.advance(job, snapshot)

    def _see(self, reading: ProcessReading) -> None:
        self._rates = process_rates(self._reading, reading)
        self._members = members(reading.processes, self._members, self._spawners)
        processes = {process.pid: process for process in reading.processes}
        seen = set()
        workers_of: dict[int | None, list[Member]] = {}
        for member in self._members:
            if member.role == "loader-worker":
                workers_of.setdefault(member.rank, []).append(member)
        for member in self._members:
            if member.role != "rank" or member.rank is None:
                continue
            crew = self._crew(member, workers_of.get(member.rank, []), processes)
            self._seats.setdefault(member.rank, Seat(crew)).sit(crew, reading.at_s)
            self._rank_of_pid[member.pid] = member.rank
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
        self._hang.see(reading)
        self._samples.sleepers.see(reading)
        self._see_halt(reading)
        self._place = place_of(reading, self._members) or self._place
        self._reading = reading

    def _crew(self, member: Member, workers: Sequence[Member], processes: Mapping[int, ProcessInfo]) -> Crew:
        rated = [(processes[each.pid], self._rates.get(each.pid, ProcessRates())) for each in (member, *workers)]
        (process, rates), *others = rated
        return Crew(member=member, process=process, rates=rates, workers=tuple(others))

    def _see_halt(self, reading: ProcessReading) -> None:
        """While a rank is stopped the others wait for it, and not because it is slow."""
        if any(seat.stopped_since_s is not None for seat in self._seats.values()):
            before = self._reading or reading  # it may have stopped right after that one
            self._halted_since_s = before.at_s if self._halted_since_s is None else self._halted_since_s
        elif self._halted_since_s is not None:
            self._samples.leave_out(self._halted_since_s, reading.at_s)
            self._halted_since_s = None

    def _see_launcher(self, processes: Mapping[int, ProcessInfo]) -> None:
        member = main_launcher(self._members)
        if member is not None:
            self._launcher = Launcher(
                pid=member.pid, kind=member.launcher_kind or "launcher", command=command_line(processes[member.pid])
            )
        elif self._launcher is not None:
            self._launcher = replace(self._launcher, is_alive=False)

    def _forget(self, processes: Mapping[int, ProcessInfo]) -> None:
        ranks = {seat.crew.process.pid for seat in self._seats.values()}
        for process in self._reading.processes if self._reading else ():
            if process.pid not in processes and process.pid not in ranks:
                self._samples.forget(process.pid)

    def _job(self, reading: ProcessReading, snapshot: Snapshot) -> Job:
        ranks = tuple(self._rank(number, seat, snapshot) for number, seat in sorted(self._seats.items()))
        stacks = {
            rank.rank: standing.thread
            for rank in ranks
            if rank.is_alive and (standing := self._samples.standing(rank.pid)) is not None
        }
        groups = group(stacks)
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
            processes=process_rows(reading, self._members, self._rates),
            stack_groups=groups,
            slow_vote=self._votes.take(ranks, groups, snapshot.at_s),
            flame=flame_of(ranks, self._samples, snapshot),
            log_files=self._logs.files,
            events=self._logs.events,
            lines=self._logs.lines,
            flagged_lines=self._logs.flagged_lines,
            curves=self._logs.curves,
            has_ended=self._ended_at_s is not None,
            ended_for_s=None if self._ended_at_s is None else snapshot.at_s - self._ended_at_s,
            log_targets=log_targets(reading, self._members),
            witness_targets=witness_targets(reading, crews),
            place=self._place,
            restarts=max((n for c in crews if (n := restarts_of(c.process.env or {})) is not None), default=None),
            detail=snapshot.detail,
            stack_errors=self._attachment.errors,
            refusals=self._attachment.refusals({rank.pid: rank.rank for rank in ranks if rank.is_alive}),
            deep=self._attachment.deep,
        )

    def _rank(self, number: int, seat: Seat, snapshot: Snapshot) -> Rank:
        log = self._logs.of_rank(number, self._ranks_of, snapshot.at_s)
        told_exit_code = self._logs.exit_codes.get(seat.crew.process.pid)
        return rank_now(number, seat, log, self._samples, snapshot, told_exit_code)
