"""The Flight Recorder of the watched job over time: where its dumps are, when to ask for one, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from hwtop.job.flight.analysis import verdicts
from hwtop.job.flight.settings import dump_files, dump_pipe, sentences
from hwtop.job.hang.liveness import STANDSTILL_S, SUSPECT, phi, silent_s
from hwtop.job.stacks.frames import thread_of, user_frame
from hwtop.job.whole_number import whole_number
from hwtop.model.job import Job, JobFlight
from hwtop.model.plan import FlightTarget
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.rank import Rank
from hwtop.model.reported.flight import FlightDump, FlightReading, FlightVerdict
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackFrame

_ASKED_IS_NEW_S = 30.0
"""An older answer of a process says nothing about now; it is asked again every 10 s while the job looks stuck. Engineering
default."""
_NAMED = re.compile(r"debug info to (?P<path>/\S+?(?P<rank>\d+))[.,]?$")
"""ProcessGroupNCCL.cpp: "Finished writing Flight Recorder debug info to PATH"."""
_KEPT_NAMES = 1024


class FlightTracker:
    """Remembers where each rank would dump: a rank dies soon after it has."""

    def __init__(self) -> None:
        self._targets: dict[int, FlightTarget] = {}
        self._settings: tuple[str, ...] = ()
        self._named: dict[int, tuple[str, ...]] = {}
        self._events_seen = 0.0
        self._judged: tuple[object, FlightVerdict | None] = (None, None)

    def advance(self, job: Job, snapshot: Snapshot) -> Job:
        """`job` with its Flight Recorder: targets, settings, verdict."""
        reading = snapshot.process
        if reading is not None:
            self._see(job.ranks, reading)
        self._listen(job)
        is_stuck = looks_stuck(job.ranks)
        targets = tuple(self._target(rank, is_stuck) for rank in job.ranks if rank.rank in self._targets)
        verdict = self._verdict(snapshot.flight, job.ranks, snapshot.at_s)
        return replace(job, flight=JobFlight(verdict=verdict, targets=targets, settings=self._settings))

    def _see(self, ranks: Sequence[Rank], reading: ProcessReading) -> None:
        processes = {process.pid: process for process in reading.processes if process.env is not None}
        alive = {rank.rank: processes[rank.pid] for rank in ranks if rank.is_alive and rank.pid in processes}
        for number, process in alive.items():
            known = self._targets.get(number)
            if known is None or known.pid != process.pid:
                self._targets[number] = _target(number, process, reading)
                self._named.pop(number, None)
        has_nccl = _has_nccl(alive.values())
        if has_nccl is not None:
            self._settings = sentences({rank: each.env or {} for rank, each in alive.items()}, has_nccl=has_nccl)

    def _listen(self, job: Job) -> None:
        for event in job.logs.events:
            match = _NAMED.search(event.text.rstrip()) if event.at_s >= self._events_seen else None
            rank = whole_number(match["rank"]) if match is not None else None
            if match is not None and rank is not None and len(self._named) < _KEPT_NAMES:
                self._named[rank] = tuple(dict.fromkeys((match["path"], *self._named.get(rank, ()))))[:4]
        self._events_seen = job.logs.events[-1].at_s if job.logs.events else self._events_seen

    def _target(self, rank: Rank, is_stuck: bool) -> FlightTarget:
        target = self._targets[rank.rank]
        files = tuple(dict.fromkeys((*self._named.get(rank.rank, ()), *target.files)))
        return replace(target, files=files, is_alive=rank.is_alive, may_ask=is_stuck and rank.is_alive)

    def _verdict(self, reading: FlightReading | None, ranks: Sequence[Rank], at_s: float) -> FlightVerdict | None:
        dumps = telling(reading.dumps, ranks, at_s) if reading is not None else ()
        if not dumps:
            return None
        places = _places(ranks)
        key = (tuple((dump.origin, dump.at_s) for dump in dumps), tuple(places.items()))
        if self._judged[0] != key:
            found = verdicts(dumps, expected={rank.rank for rank in ranks}, now_at=places)
            self._judged = (key, found[0] if found else None)
        return self._judged[1]


def looks_stuck(ranks: Sequence[Rank]) -> bool:
    """A rank waits for others for suspiciously long. The question runs code in the job, so a healthy one is not asked."""
    alive = [rank for rank in ranks if rank.is_alive]
    waits = any(rank.stack.is_waiting and phi(rank) >= SUSPECT for rank in alive)
    return waits and all(age_s is None or age_s >= STANDSTILL_S / 2 for age_s in map(silent_s, alive))


def telling(dumps: Sequence[FlightDump], ranks: Sequence[Rank], at_s: float) -> tuple[FlightDump, ...]:
    """The dumps that still say something: readable, and no rank has told a step after they were made."""
    stepped_s = max(
        (rank.progress.reported_at_s for rank in ranks if rank.progress.reported_at_s is not None), default=None
    )
    return tuple(
        dump
        for dump in dumps
        if dump.error is None
        and (stepped_s is None or dump.at_s >= stepped_s)
        and (not dump.is_asked or at_s - dump.at_s <= _ASKED_IS_NEW_S)
    )


def _target(rank: int, process: ProcessInfo, reading: ProcessReading) -> FlightTarget:
    env = process.env or {}
    boot_s = reading.boot_time_s
    return FlightTarget(
        rank=rank,
        pid=process.pid,
        uid=process.uid,
        files=dump_files(env, rank, process.cwd),
        pipe=dump_pipe(env, rank, process.cwd),
        started_s=None if boot_s is None else boot_s + process.start_ticks / reading.ticks_per_s,
    )


def _has_nccl(processes: Iterable[ProcessInfo]) -> bool | None:
    """Whether NCCL's watchdog runs in some rank; None where no rank shows a process group at all."""
    names = {thread.comm for process in processes for thread in process.threads}
    if any(name.startswith("pt_nccl") for name in names):
        return True
    return False if any(name.startswith(("pt_gloo", "gloo_")) for name in names) else None


def _places(ranks: Sequence[Rank]) -> Mapping[int, StackFrame]:
    """Where the training thread of each rank is in the user's code."""
    found = {}
    for rank in ranks:
        thread = thread_of(rank) if rank.is_alive else None
        frame = user_frame(thread.frames) if thread is not None else None
        if frame is not None:
            found[rank.rank] = frame
    return found
