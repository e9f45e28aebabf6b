"""Whose line it is: the job's, an earlier job's in the same file, or unknown."""

from __future__ import annotations

from math import inf

import pytest
from msgspec.structs import replace

from hwtop.derive.logs.writer import Lines, of_job
from hwtop.job.log.parsed import parsed
from hwtop.model.job import Job
from hwtop.model.reported.log import LogReading
from hwtop.model.snapshot import Snapshot
from tests.derive.job.test_job import after
from tests.derive.readings import launcher, log_lines, logs, processes, rank, snapshot

NOON_S = 1_795_435_200.0
"""Some day's 12:00:00, universal time."""
KILLED = "    exitcode  : -9 (pid: 4242)   Signal 9 (SIGKILL) received by PID 4242"
EARLIER = "2026-11-23 11:50:00,000 INFO starting"
LATER = "2026-11-23 11:59:30,000 INFO starting"


def read(*texts: str, content_age_s: float | None, age_s: float = 1.0, utc_offset_s: float = 0.0) -> LogReading:
    """At noon."""
    reading = logs(10.0, *log_lines("/all.log", 10.0, *texts, is_past=True), age_s=age_s)
    files = tuple(replace(file, content_age_s=content_age_s) for file in reading.files)
    return replace(reading, files=files, time_s=NOON_S, utc_offset_s=utc_offset_s)


def lines_of(reading: LogReading) -> Lines:
    """For a job that began a minute ago."""
    return of_job(reading, [parsed(line) for line in reading.lines], 60.0)


@pytest.mark.parametrize(
    ("texts", "content_age_s", "age_s", "of_this_job", "unknown"),
    [
        ((KILLED, "step 1"), 59.0, 1.0, (KILLED, "step 1"), ()),  # the file is as old as the job
        ((KILLED, "step 1"), None, 1.0, (KILLED, "step 1"), ()),  # named by a person
        ((KILLED, "step 1"), 900.0, 1.0, (), (KILLED, "step 1")),  # a script of 15 minutes prints into it too
        ((KILLED, "step 1"), inf, 1.0, (), (KILLED, "step 1")),  # opened to append
        ((KILLED, "step 1"), inf, 300.0, (), ()),  # nobody has written to it since the job began
        ((EARLIER, KILLED, "hello"), 900.0, 1.0, (), (KILLED, "hello")),
        ((KILLED, EARLIER, "hello"), 59.0, 1.0, (KILLED, EARLIER, "hello"), ()),  # it may name any time
        ((KILLED, EARLIER, "hello"), None, 1.0, ("hello",), ()),
        ((KILLED, f"resumed from {EARLIER}"), None, 1.0, (KILLED, f"resumed from {EARLIER}"), ()),
        ((KILLED, LATER, "step 1"), 900.0, 1.0, (LATER, "step 1"), (KILLED,)),
        ((EARLIER, KILLED, LATER, "step 1"), 900.0, 1.0, (LATER, "step 1"), (KILLED,)),
    ],
)
def test_a_line_is_the_jobs_where_file_or_time_say_so(
    texts: tuple[str, ...],
    content_age_s: float | None,
    age_s: float,
    of_this_job: tuple[str, ...],
    unknown: tuple[str, ...],
) -> None:
    lines = lines_of(read(*texts, content_age_s=content_age_s, age_s=age_s))
    assert tuple(line.text for line in lines.of_job) == of_this_job
    assert tuple(line.text for line in lines.unknown) == unknown


def test_a_time_may_be_local_or_universal() -> None:
    """A container writes universal time on a machine that is five hours behind; a line is another job's in both or in neither."""
    local = EARLIER.replace("11:50", "06:50")
    for text in (EARLIER, local):
        lines = lines_of(read(text, content_age_s=inf, utc_offset_s=-5 * 3600.0))
        assert not lines.of_job
    assert not lines_of(read(local, content_age_s=None)).of_job


def test_what_comes_while_the_job_is_watched_is_its_own() -> None:
    reading = logs(10.0, *log_lines("/all.log", 10.0, KILLED))
    assert tuple(line.source for line in lines_of(reading).of_job) == reading.lines


def job_with(*texts: str, content_age_s: float, age_s: float = 1.0) -> Job:
    """Its launcher began 100 s ago."""
    reading = read(*texts, content_age_s=content_age_s, age_s=age_s)
    processed = processes(101.0, launcher(), rank(0), rank(1))
    seen: Snapshot = snapshot(101.0, process=processed, logs=replace(reading, time_s=None))
    return after(seen)


def test_the_report_of_an_earlier_job_in_the_same_file_is_no_event_of_this_one() -> None:
    shared, own = job_with(KILLED, content_age_s=900.0), job_with(KILLED, content_age_s=100.0)
    assert (len(shared.logs.events), len(shared.logs.unproven_events)) == (0, 1)
    assert (len(own.logs.events), len(own.logs.unproven_events)) == (1, 0)
    earlier = job_with("step 7 loss 2.5", KILLED, content_age_s=900.0, age_s=500.0)
    assert (earlier.logs.events, earlier.logs.unproven_events) == ((), ())
    assert [line.text for line in earlier.logs.lines] == ["step 7 loss 2.5", KILLED]
    assert all(each.progress.newest is None for each in earlier.ranks)


def test_a_line_that_names_a_process_of_the_job_is_the_jobs() -> None:
    own = KILLED.replace("4242", "111")
    assert [event.rank for event in job_with(own, content_age_s=900.0).logs.events] == [1]
