"""The step of the whole run."""

from __future__ import annotations

from hwtop.job.progress.step_count import StepCount


def counted(*reported: tuple[int, int | None, float | None]) -> list[int]:
    count = StepCount()
    return [count.take(step, total, epoch, epoch) for step, total, epoch in reported]


def test_steps_that_start_over_with_each_epoch_are_added_up() -> None:
    reported = [(50, 100, 1), (100, 100, 1), (50, 100, 2), (100, 100, 2), (50, 100, 4)]
    assert counted(*reported) == [50, 100, 150, 200, 350]


def test_without_a_total_the_last_step_of_the_epoch_counts() -> None:
    assert counted((10, None, 0), (20, None, 0), (10, None, 1)) == [10, 20, 30]


def test_a_bar_that_was_full_goes_on() -> None:
    assert counted((95, 100, None), (100, 100, None), (1, 100, None)) == [95, 100, 101]


def test_a_restart_goes_back() -> None:
    assert counted((100, 1000, None), (110, 1000, None), (90, 1000, None)) == [100, 110, 90]
    assert counted((100, None, 0.1), (110, None, 0.11), (90, None, 0.09)) == [100, 110, 90]


def test_a_global_step_stays_as_told() -> None:
    assert counted((100, 1000, 0.5), (200, 1000, 1.0), (300, 1000, 1.5)) == [100, 200, 300]


def test_the_same_step_of_the_next_epoch() -> None:
    assert counted((100, 100, 1), (100, 100, 2), (100, 100, 2), (100, 100, 3)) == [100, 200, 200, 300]


def test_an_epoch_that_is_told_after_the_step_is_no_new_round() -> None:
    count = StepCount()
    assert count.take(50, 50, 4.0, None) == 50
    assert count.take(50, 50, 5.0, 5.0) == 50


def test_a_run_that_is_resumed_in_an_earlier_epoch() -> None:
    reported = [(30, 40, 1), (30, 40, 2), (20, 40, 3), (0, 40, 2), (30, 40, 2), (20, 40, 3), (0, 40, 4)]
    assert counted(*reported) == [30, 70, 100, 40, 70, 100, 120]
    assert counted((5, None, 1), (10, None, 1), (5, None, 2), (5, None, 1), (10, None, 1)) == [5, 10, 15, 5, 10]


def test_a_rank_that_is_behind_is_in_its_own_epoch() -> None:
    reported = [(0, 40, 5), (30, 40, 5), (0, 40, 6), (30, 40, 5), (10, 40, 6), (0, 40, 6), (20, 40, 6)]
    assert counted(*reported) == [0, 30, 40, 30, 50, 40, 60]
