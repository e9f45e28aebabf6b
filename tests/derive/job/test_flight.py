from __future__ import annotations

from hwtop.derive.job.flight import FlightTracker, looks_stuck, telling
from hwtop.model.job import Job
from hwtop.model.process import ProcessInfo, ThreadInfo
from hwtop.model.rank import Rank
from hwtop.model.reported.flight import FlightDump, FlightReading
from hwtop.model.reported.log import LogEvent
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import BOOT_S, process, processes, snapshot
from tests.flight_dumps import recorded
from tests.parts import job_of, replace
from tests.symptoms.derived_states import rank, still

ENV = {"TORCH_FR_BUFFER_SIZE": "2000", "TORCH_FR_DUMP_TEMP_FILE": "fr_", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/p/fr"}


def ranked(number: int, *, env: dict[str, str] | None = None, thread: str = "pt_nccl_watchdg") -> ProcessInfo:
    threads = (ThreadInfo(tid=1, comm=thread, state="S", cpu_ticks=0),)
    return process(1000 + number, env=ENV if env is None else env, cwd="/work", threads=threads)


def job(*ranks: Rank, events: tuple[LogEvent, ...] = ()) -> Job:
    return job_of(target_pid=1, launcher=None, world_size=len(ranks), ranks=ranks, processes=(), events=events)


def seen(at_s: float, *found: ProcessInfo, dumps: tuple[FlightDump, ...] = ()) -> Snapshot:
    flight = FlightReading(at_s=at_s, dumps=dumps) if dumps else None
    return snapshot(at_s, process=processes(at_s, *found), flight=flight)


def written(text: str, at_s: float = 1.0) -> LogEvent:
    return LogEvent(
        pattern="nccl-timeout",
        severity="info",
        role="context",
        path="/l",
        line_no=1,
        text=text,
        at_s=at_s,
        is_past=False,
        explanation="",
    )


def test_targets_and_settings_come_from_the_ranks_environment() -> None:
    found = FlightTracker().advance(job(rank(0), rank(1)), seen(1.0, ranked(0), ranked(1)))
    assert [target.files for target in found.flight.targets] == [("/work/fr_0",), ("/work/fr_1",)]
    assert found.flight.targets[1].pipe == "/p/fr1.pipe"
    assert found.flight.targets[0].started_s == BOOT_S + 1000 / 100
    assert found.flight.settings[0] == "Flight Recorder on (2000 entries)"
    assert found.flight.verdict is None


def test_a_job_without_process_groups_is_told_nothing() -> None:
    found = FlightTracker().advance(job(rank(0)), seen(1.0, ranked(0, env={}, thread="python")))
    assert found.flight.settings == ()


def test_gloo_dumps_no_files() -> None:
    found = FlightTracker().advance(job(rank(0)), seen(1.0, ranked(0, thread="pt_gloo_runloop")))
    assert "without NCCL" in found.flight.settings[1]


def test_where_a_rank_would_dump_stays_known_when_it_is_dead() -> None:
    tracker = FlightTracker()
    tracker.advance(job(rank(0)), seen(1.0, ranked(0)))
    found = tracker.advance(job(rank(0, is_alive=False)), seen(2.0))
    assert found.flight.targets[0].files == ("/work/fr_0",)
    assert not found.flight.targets[0].is_alive and not found.flight.targets[0].may_ask


def test_a_file_that_a_log_line_names_is_looked_at() -> None:
    line = "[rank1]:[I321 FlightRecorder.cpp:40] Finished writing Flight Recorder debug info to /ckpt/dumps/run_1"
    found = FlightTracker().advance(job(rank(0), rank(1), events=(written(line),)), seen(1.0, ranked(0), ranked(1)))
    assert found.flight.targets[1].files == ("/ckpt/dumps/run_1", "/work/fr_1")
    assert found.flight.targets[0].files == ("/work/fr_0",)


def test_the_servers_are_asked_only_when_the_job_looks_stuck() -> None:
    assert not looks_stuck((rank(0), rank(1)))
    assert not looks_stuck((still(0, 4.8), rank(1)))
    assert looks_stuck((still(0, 5.1), still(1, 5.1)))
    assert looks_stuck((still(0, 5.1), rank(1, step_age_s=None, log_age_s=None)))
    # always seen at the same line of a loop that goes on
    assert not looks_stuck((still(0, 60.0, step_age_s=0.3), rank(1)))
    found = FlightTracker().advance(job(still(0), still(1)), seen(1.0, ranked(0), ranked(1)))
    assert all(target.may_ask for target in found.flight.targets)


def test_verdict_from_files() -> None:
    dumps = tuple(replace(dump, at_s=50.0) for dump in recorded("mismatch"))
    found = FlightTracker().advance(job(still(0), still(1), still(2)), seen(100.0, ranked(0), dumps=dumps))
    assert (
        found.flight.verdict is not None
        and found.flight.verdict.kind == "mismatch"
        and found.flight.verdict.culprits == (2,)
    )


def test_dumps_from_before_the_newest_step_say_nothing() -> None:
    dumps = tuple(replace(dump, at_s=50.0) for dump in recorded("mismatch"))
    assert telling(dumps, (rank(0, step_reported_at_s=49.0),), 100.0) == dumps
    assert telling(dumps, (rank(0, step_reported_at_s=51.0),), 100.0) == ()


def test_answers_of_processes_grow_old_and_broken_dumps_say_nothing() -> None:
    asked = tuple(replace(dump, at_s=50.0, is_asked=True) for dump in recorded("mismatch"))
    assert telling(asked, (still(0),), 80.0) == asked
    assert telling(asked, (still(0),), 81.0) == ()
    assert telling((FlightDump(rank=0, origin="x", at_s=50.0, error="cut"),), (still(0),), 60.0) == ()
