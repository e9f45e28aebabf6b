"""What metrics files and heartbeats add to the job: curves, and the steps that no log tells."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.derive.job.tracker import JobTracker
from hwtop.model.job import Job
from hwtop.model.process import OpenFile
from hwtop.model.reported.heartbeat import Beat, HeartbeatReading, Pulse
from hwtop.model.reported.log import LogFile, LogLine, LogReading
from hwtop.model.reported.metrics import MetricsFile, MetricsPoint, MetricsReading
from tests.derive import readings
from tests.parts import replace

EVENTS = "/job/runs/events.out.tfevents.1760000000.node-1.4711.0"
CREW = (readings.launcher(), readings.rank(0), readings.rank(1))


def reported(at_s: float, *points: MetricsPoint, **fields: Any) -> MetricsReading:
    known: dict[str, Any] = {"path": EVENTS, "kind": "tensorboard", "rank": 0, "age_s": 0.0}
    return MetricsReading(at_s=at_s, files=(MetricsFile(points=points, **(known | fields)),))


def losses(*steps: int, start_s: float = 100.0, pace_s: float = 0.5) -> list[MetricsPoint]:
    return [
        MetricsPoint(name="loss", value=10.0 - step, at_s=start_s + pace_s * step, step=step, is_past=False)
        for step in steps
    ]


def beats(at_s: float, *steps: int, pace_s: float = 0.25, rank: int = 1, **fields: Any) -> HeartbeatReading:
    """The last one came at `at_s`."""
    found = tuple(
        Beat(number=step, at_s=at_s - pace_s * (steps[-1] - step), step=step, values={"loss": 1.0 / step, "lr": 0.1})
        for step in steps
    )
    pulse = Pulse(pid=110 + rank, rank=rank, beats=found, count=steps[-1] if steps else 0, **fields)
    return HeartbeatReading(at_s=at_s, pulses=(pulse,))


def advance(tracker: JobTracker, at_s: float, **fields: Any) -> Job:
    snapshot = readings.snapshot(at_s, process=readings.processes(at_s, *CREW), **fields)
    job = tracker.advance(snapshot)
    assert job is not None
    return job


def test_a_metrics_file_tells_step_pace_and_curves_where_no_log_does() -> None:
    job = advance(JobTracker(), 110.0, metrics=reported(110.0, *losses(*range(10, 20))))
    first, second = job.ranks
    assert first.progress.newest is not None
    assert (first.progress.newest.step, first.progress.newest.loss, first.progress.reporter) == (19, -9.0, EVENTS)
    assert first.progress.step_time_s == pytest.approx(0.5)
    assert first.progress.step_age_s == pytest.approx(0.5)
    assert (second.progress.newest, second.progress.reporter) == (None, None)
    curve, pace = job.metrics.curves
    assert (curve.name, curve.source, curve.rank) == ("loss", EVENTS, 0)
    assert [point.step for point in curve.points] == list(range(10, 20))
    assert (pace.name, {point.value for point in pace.points}) == ("step_time_s", {0.5})
    assert job.metrics.files[0].points == ()


def test_steps_of_a_metrics_file_alone_show_that_the_start_is_over() -> None:
    saving = (readings.frame("save", "torch/serialization.py", 900), readings.frame("main", line=7))

    def seen(tracker: JobTracker, **metrics: Any) -> Job:
        job = advance(tracker, 110.0, **metrics)
        for at_s in (111.0, 112.0):
            job = advance(tracker, at_s, stacks=readings.stacks(at_s, readings.dump(110, at_s, saving)))
        return job

    told = seen(JobTracker(), metrics=reported(110.0, *losses(*range(10, 20))))
    assert [each.phase for each in told.ranks[0].stack.intervals_of("checkpoint")] == ["checkpoint"]
    assert seen(JobTracker()).ranks[0].stack.intervals_of("checkpoint") == []


def test_the_age_of_a_file_is_no_age_of_a_step() -> None:
    tracker = JobTracker()
    advance(tracker, 110.0, metrics=reported(110.0, *losses(*range(10, 20))))
    rank = advance(tracker, 200.0).ranks[0]
    assert rank.progress.newest is not None
    assert rank.progress.newest.step == 19
    assert rank.progress.step_age_s is None  # writers flush late: an alarm on that would be a false one


def test_rows_that_were_read_together_tell_no_pace() -> None:
    points = [MetricsPoint(name="loss", value=1.0, at_s=110.0, step=step) for step in range(5)]
    rank = advance(JobTracker(), 110.0, metrics=reported(110.0, *points, has_times=False)).ranks[0]
    assert rank.progress.step_time_s is None


def test_epochs_are_no_steps() -> None:
    point = MetricsPoint(name="loss", value=1.0, at_s=110.0, epoch=3.0)
    job = advance(JobTracker(), 110.0, metrics=reported(110.0, point, rank=None))
    assert job.ranks[0].progress.newest is not None
    assert (job.ranks[0].progress.newest.step, job.ranks[0].progress.newest.epoch) == (None, 3.0)
    assert job.metrics.curves[0].points[0].step == 3


def test_batches_of_a_file_go_on_over_the_epochs() -> None:
    points = [
        MetricsPoint(name="loss", value=1.0, at_s=110.0, step=step, epoch=epoch)
        for epoch in (0.0, 1.0, 2.0)
        for step in (0, 10, 20)
    ]
    (curve,) = advance(JobTracker(), 110.0, metrics=reported(110.0, *points)).metrics.curves
    assert [point.step for point in curve.points] == [0, 10, 20, 21, 31, 41, 42, 52, 62]


def test_a_log_is_never_overridden_but_filled_in() -> None:
    tracker = JobTracker()
    logs = readings.logs(110.0, *readings.log_lines("/logs/rank_0.log", 110.0, "step 500 | loss 2.5"))
    advance(tracker, 110.0)
    rank = advance(tracker, 111.0, logs=logs, metrics=reported(111.0, *losses(19))).ranks[0]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.step, rank.progress.newest.loss, rank.progress.reporter) == (500, 2.5, None)
    point = MetricsPoint(name="lr", value=0.1, at_s=111.0, step=19)
    rank = advance(tracker, 112.0, metrics=reported(112.0, point)).ranks[0]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.step, rank.progress.newest.lr) == (500, 0.1)


def test_a_heartbeat_tells_step_pace_age_and_curves() -> None:
    tracker = JobTracker()
    job = advance(tracker, 110.0, heartbeat=beats(110.0, *range(1, 31)))
    rank = job.ranks[1]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.step, rank.progress.newest.lr, rank.progress.reporter) == (30, 0.1, "heartbeat")
    assert rank.progress.step_time_s == pytest.approx(0.25)
    assert rank.log.interval_s == pytest.approx(0.25)
    assert {curve.name for curve in job.metrics.curves} == {"loss", "lr", "step_time_s"}
    assert all(curve.source == "heartbeat of rank 1" for curve in job.metrics.curves)
    rank = advance(tracker, 150.0).ranks[1]
    assert rank.progress.step_age_s == pytest.approx(40.0)  # a beat is written at once: its age is the age of the step
    assert job.ranks[0].progress.reporter is None


def test_a_heartbeat_goes_before_a_log_unless_it_has_stopped() -> None:
    tracker = JobTracker()
    advance(tracker, 110.0)
    logs = readings.logs(111.0, *readings.log_lines("/logs/rank_1.log", 111.0, "step 5 | loss 2.5 | grad_norm 7.0"))
    rank = advance(tracker, 111.0, logs=logs, heartbeat=beats(111.0, 8, 9)).ranks[1]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.step, rank.progress.newest.grad_norm, rank.progress.reporter) == (9, 7.0, "heartbeat")
    later = readings.logs(130.0, *readings.log_lines("/logs/rank_1.log", 130.0, "step 50 | loss 2.5"))
    rank = advance(tracker, 130.0, logs=later).ranks[1]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.step, rank.progress.reporter) == (50, None)


def test_a_restarted_rank_starts_with_a_new_heartbeat() -> None:
    tracker = JobTracker()
    advance(tracker, 110.0, heartbeat=beats(110.0, 100, 101))
    reading = readings.processes(120.0, readings.launcher(), readings.rank(0), readings.rank(1, pid=300))
    job = tracker.advance(readings.snapshot(120.0, process=reading))
    assert job is not None
    assert job.ranks[1].progress.reporter is None


def test_calls_without_a_step_tell_their_numbers_alone() -> None:
    pulse = Pulse(pid=111, rank=1, beats=(Beat(number=1, at_s=110.0, values={"loss": 3.0, "tokens_per_s": 900.0}),))
    job = advance(JobTracker(), 110.0, heartbeat=HeartbeatReading(at_s=110.0, pulses=(pulse,)))
    rank = job.ranks[1]
    assert rank.progress.newest is not None
    assert (rank.progress.newest.loss, rank.progress.newest.throughput, rank.progress.newest.throughput_unit) == (
        3.0,
        900.0,
        "tokens/s",
    )
    assert (rank.progress.step_age_s, rank.progress.reporter) == (None, None)


def test_targets_are_the_ranks_and_whoever_has_such_a_file_open() -> None:
    opened = (OpenFile(fd=5, target=EVENTS),)
    processes = (
        readings.launcher(files=opened),
        readings.rank(0, cwd="/job", ns_pids=(110, 7), uid=1000),
        readings.worker(200, 110),
    )
    job = JobTracker().advance(readings.snapshot(110.0, process=readings.processes(110.0, *processes)))
    assert job is not None
    found = {target.pid: target for target in job.metrics.targets}
    assert set(found) == {readings.LAUNCHER_PID, 110}
    assert found[readings.LAUNCHER_PID].files == (EVENTS,)
    rank = found[110]
    assert (rank.own_pid, rank.rank, rank.uid, rank.folders) == (7, 0, 1000, ("/job",))
    assert rank.started_s == readings.BOOT_S + 1.1


def test_points_come_in_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = JobTracker()
    for number in range(40):
        path = f"/job/{number}.csv"
        job = advance(
            tracker, 110.0 + number, metrics=reported(110.0, *losses(number), path=path, age_s=100.0 - number)
        )
    assert len(job.metrics.curves) == 16
    assert replace(job.metrics.curves[0], points=()).source == "/job/39.csv"


def test_what_wandb_keeps_of_the_output_is_followed_where_the_output_is_a_terminal() -> None:
    console = "/job/wandb/run-1/files/output.log"
    metrics = reported(110.0, *losses(1), kind="wandb", path="/job/wandb/run-1/run-1.wandb", console=console, rank=None)
    job = advance(JobTracker(), 110.0, metrics=metrics)
    assert console not in {target.path for target in job.logs.targets}
    terminal = LogFile(path="/dev/pts/3", pids=(110,), size_bytes=None, age_s=None, reason="stdout is a terminal")
    logs = LogReading(at_s=110.0, files=(terminal,), lines=())
    job = advance(JobTracker(), 110.0, metrics=metrics, logs=logs)
    assert {target.path: target.pids for target in job.logs.targets}[console] == (110,)


@pytest.mark.parametrize(("total", "expected"), [(100, None), (5000, 5000)])
def test_a_file_whose_run_is_over_before_the_log_s_step_is_another_run_s(total: int, expected: int | None) -> None:
    metrics = reported(110.0, *losses(*range(10, 20)), total_steps=total)
    line = LogLine(path="/job/rank_0.log", line_no=1, text="step 2405 loss 0.5", at_s=109.0, is_past=False)
    file = LogFile(path="/job/rank_0.log", pids=(110,), size_bytes=20, age_s=1.0)
    logs = LogReading(at_s=110.0, files=(file,), lines=(line,))
    newest = advance(JobTracker(), 110.0, metrics=metrics, logs=logs).ranks[0].progress.newest
    assert newest is not None
    assert (newest.step, newest.total_steps) == (2405, expected)
