"""What the kernel remembers from before the first reading: since when the threads of a rank have not run."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hwtop.job.hang.liveness import is_improbable
from hwtop.model.job import Job
from hwtop.model.reported.log import LogReading
from tests.derive.job.test_hang import after, at, rank_of
from tests.derive.readings import STEP, WAIT, dump, launcher, log_lines, logs, process, rank, stacks, worker

ATTACHED_S = 100.0
SLEPT_S = 43.0
SINCE_S = ATTACHED_S - SLEPT_S
SLEEPS: dict[str, Any] = {
    "asleep_since_s": SINCE_S,
    "idle_since_s": SINCE_S,
    "voluntary_switches": 70,
    "involuntary_switches": 3,
}


def steps(count: int, *, content_age_s: float = 60.0) -> LogReading:
    """What rank 0 logged before the attach, in a file that is `content_age_s` old; the job is 99 s old."""
    texts = [f"step {number} loss 2.5" for number in range(1, count + 1)]
    reading = logs(ATTACHED_S, *log_lines("/logs/rank_0.log", ATTACHED_S, *texts, is_past=True), age_s=SLEPT_S)
    return replace(reading, files=tuple(replace(file, content_age_s=content_age_s) for file in reading.files))


def attached(log: LogReading, *others: Any, **changes: Any) -> Job:
    """A second after the attach to ranks of which rank 0 waits in a collective and rank 1 elsewhere, both asleep."""
    found = [launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **(SLEEPS | changes)), *others]
    looks = stacks(
        ATTACHED_S + 0.5, dump(110, ATTACHED_S + 0.5, WAIT, is_active=False), dump(111, ATTACHED_S + 0.5, STEP)
    )
    return after(at(ATTACHED_S, *found, logs=log), at(ATTACHED_S + 1.0, *found, stacks=looks))


def test_a_hang_from_before_the_attach_is_known_at_once() -> None:
    job = attached(steps(29))
    for number in (0, 1):
        found = rank_of(job, number)
        assert (found.stall.asleep_for_s, found.stall.idle_for_s, found.stall.same_stack_for_s) == (44.0, 44.0, 44.0)
        assert is_improbable(found)


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (steps(4), "too few steps show how often they come"),
        (steps(29, content_age_s=900.0), "they may be those of an earlier job"),
    ],
)
def test_without_a_known_rhythm_only_what_was_watched_counts(log: LogReading, why: str) -> None:
    found = rank_of(attached(log), 1)
    assert (found.stall.asleep_for_s, found.stall.idle_for_s, found.stall.same_stack_for_s) == (1.0, 1.0, 1.0), why
    assert not is_improbable(found)


def test_a_log_with_gaps_as_long_shows_a_pause() -> None:
    def written(*at: str) -> LogReading:
        texts = [f"2026-11-24 10:{when} step {number} loss 2.5" for number, when in enumerate(at, 1)]
        reading = logs(ATTACHED_S, *log_lines("/logs/rank_0.log", ATTACHED_S, *texts, is_past=True), age_s=SLEPT_S)
        return replace(reading, files=tuple(replace(file, content_age_s=60.0) for file in reading.files))

    steady = written("00:01", "00:02", "00:03", "00:04", "00:05", "00:06")
    rounds = written("00:01", "00:02", "00:03", "01:03", "01:04", "01:05")
    assert rank_of(attached(steady), 1).stall.idle_for_s == 44.0
    assert rank_of(attached(rounds), 1).stall.idle_for_s == 1.0


@pytest.mark.parametrize(
    "helper",
    [
        worker(130, 111, **(SLEEPS | {"idle_since_s": ATTACHED_S - 2})),
        process(140, 111, "/bin/tar -c data", **(SLEEPS | {"idle_since_s": ATTACHED_S - 2})),
    ],
    ids=["loader worker", "other child"],
)
def test_a_rank_is_idle_only_as_long_as_what_it_started(helper: Any) -> None:
    found = rank_of(attached(steps(29), helper), 1)
    assert (found.stall.asleep_for_s, found.stall.idle_for_s) == (44.0, 3.0)


def test_a_thread_that_was_woken_after_the_attach_sleeps_since_then() -> None:
    woken = {"asleep_since_s": None, "voluntary_switches": 71}
    found = [launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **SLEEPS)]
    later = [launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **(SLEEPS | woken))]
    job = after(at(ATTACHED_S, *found, logs=steps(29)), at(ATTACHED_S + 1, *later), at(ATTACHED_S + 2, *later))
    assert rank_of(job, 0).stall.asleep_for_s == 45.0
    assert rank_of(job, 1).stall.asleep_for_s == 1.0


def test_work_after_the_attach_ends_the_rest() -> None:
    busy = [launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **(SLEEPS | {"user_ticks": 90}))]
    job = after(
        at(ATTACHED_S, launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **SLEEPS), logs=steps(29)),
        at(ATTACHED_S + 1, *busy),
        at(ATTACHED_S + 2, *busy),
    )
    assert rank_of(job, 1).stall.idle_for_s == 1.0


def test_a_tick_now_and_then_is_no_work_of_a_helper() -> None:
    def look(at_s: float, ticks: int) -> Any:
        helper = process(140, 111, "/bin/watchdog", **(SLEEPS | {"user_ticks": 90 + ticks}))
        return at(at_s, launcher(**SLEEPS), rank(0, **SLEEPS), rank(1, **SLEEPS), helper, logs=steps(29))

    seldom = after(*(look(ATTACHED_S + s / 2, s // 4) for s in range(41)))
    works = after(*(look(ATTACHED_S + s / 2, s * 4) for s in range(41)))
    assert rank_of(seldom, 1).stall.helpers_idle_for_s == 63.0
    assert rank_of(works, 1).stall.helpers_idle_for_s == 0.0
