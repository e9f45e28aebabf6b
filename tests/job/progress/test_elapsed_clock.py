"""A step's own time, and a clock that runs since the start."""

from __future__ import annotations

import pytest

from hwtop.job.log.parsed import parsed
from hwtop.job.progress.elapsed_clock import ElapsedClock
from hwtop.job.progress.reader import ProgressReader
from hwtop.job.progress.tracker import ProgressTracker
from hwtop.model.reported.log import LogLine


def test_step_times_are_taken_as_told() -> None:
    clock = ElapsedClock()
    reported = [32.0, 0.5, 0.51, 0.49, 0.52, 0.53, 0.54, 0.55, 0.6, 0.9]
    assert [clock.step_time_s(step, value) for step, value in enumerate(reported)] == reported


def test_a_clock_is_found_out_and_then_read_by_its_differences() -> None:
    clock = ElapsedClock()
    values = [clock.step_time_s(10 * count, 2.5 * count) for count in range(1, 8)]
    assert values[-3:] == pytest.approx([0.25, 0.25, 0.25])
    assert clock.step_time_s(80, 1.0) is None
    assert clock.step_time_s(90, 3.0) == pytest.approx(0.2)


def test_a_step_that_takes_steadily_longer_is_no_clock() -> None:
    clock = ElapsedClock()
    reported = [1.0 + 0.05 * step for step in range(200)]
    assert [clock.step_time_s(step, value) for step, value in enumerate(reported)] == reported


def test_the_lines_of_a_script_that_prints_the_time_since_its_start() -> None:
    reader = ProgressReader()
    rows = [reader.read(f"Step {10 * n} | Loss: 2.5 | LR: 1e-06 | Time: {2.0 * n}s") for n in range(1, 8)]
    assert rows[-1] is not None
    assert rows[-1].step_time_s == pytest.approx(0.2)


def test_a_time_that_is_longer_than_the_lines_are_apart_is_no_time_of_a_step() -> None:
    """It begins late and its pace is uneven, so that its values alone do not show that it is a clock."""
    tracker = ProgressTracker()
    clock_s = 9.0
    for number in range(1, 30):
        clock_s += 0.3 if number % 2 else 0.7
        text = f"   {clock_s * 1000:.0f} ms  step {50 * number}  td_loss 0.01258  q 0.683"
        tracker.add(parsed(LogLine(path="/x.log", line_no=number, text=text, at_s=clock_s)))
    assert tracker.step_time_s == pytest.approx(0.01, rel=0.5)


def test_no_median_is_made_of_the_times_before_the_clock_was_found_out() -> None:
    """Half of one kind and half of the other look like the time of all steps between two lines."""
    tracker = ProgressTracker()
    for count in range(1, 25):
        text = f"{2000 * count} ms minibatch {20 * count}: mse 0.1121"
        tracker.add(parsed(LogLine(path="a.log", line_no=None, text=text, at_s=2.0 * count, is_past=count < 3)))
        if count >= 8:
            assert tracker.step_time_s == pytest.approx(0.1)
