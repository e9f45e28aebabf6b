"""Counters of samples: what they tell of the pace, and what they cannot tell."""

from __future__ import annotations

import pytest

from hwtop.job.log.parsed import parsed
from hwtop.job.progress.tracker import ProgressTracker
from hwtop.model.reported.log import LogLine

MNIST = "Train Epoch: {epoch} [{n}/{total} ({percent}%)]\tLoss: 2.322241"


def printed(form: str, total: int, every: int, lines: int) -> list[str]:
    return [
        form.format(epoch=1, n=n, total=total, percent=100 * n // total)
        for n in (min(total, every * index) for index in range(lines))
    ]


def tracked(texts: list[str]) -> ProgressTracker:
    """One line in 2 seconds."""
    tracker = ProgressTracker()
    for index, text in enumerate(texts):
        tracker.add(parsed(LogLine(path="a.log", line_no=index, text=text, at_s=2.0 * index)))
    return tracker


@pytest.mark.parametrize(("total", "every"), [(60_000, 640), (102_400, 768), (50_000, 12_800), (60_000, 10_000)])
@pytest.mark.parametrize("form", [MNIST, "Progress: {percent}% ({n}/{total}) loss 2.322241"])
def test_samples_tell_no_step_time_but_a_throughput(total: int, every: int, form: str) -> None:
    tracker = tracked(printed(form, total, every, 4))
    assert tracker.newest is not None
    assert (tracker.newest.throughput, tracker.newest.throughput_unit) == (every / 2, "samples/s")
    assert tracker.step_time_s is None
    assert tracker.log_interval_s == 2.0
    assert tracker.measured is not None
    assert (tracker.measured.name, tracker.measured.point.value) == ("throughput", every / 2)


@pytest.mark.parametrize(("total", "every"), [(938, 10), (1563, 50), (400, 1), (3000, 250)])
def test_batches_of_the_same_shape_tell_a_step_time(total: int, every: int) -> None:
    tracker = tracked(printed(MNIST, total, every, 4))
    assert tracker.step_time_s == 2.0 / every
    assert tracker.newest is not None
    assert tracker.newest.throughput is None


def test_the_last_line_of_an_epoch_is_nearer_and_changes_nothing() -> None:
    assert tracked(printed(MNIST, 1248, 50, 26)).step_time_s is not None
    assert tracked(printed(MNIST, 60_000, 12_800, 6)).step_time_s is None


def test_a_line_that_tells_its_step_time_counts_steps() -> None:
    form = "Train: 1 [{n}/{total} ({percent}%)]  Loss: 2.5  Time: 0.25s"
    assert tracked(printed(form, 938, 70, 4)).step_time_s == 0.25


def test_a_bar_of_images() -> None:
    form = "Epoch 1/5: {percent}%|##  | {n}/{total} [00:47<03:10, 3.75img/s, loss (batch)=1.25]"
    tracker = tracked(printed(form, 900, 4, 9))
    assert tracker.step_time_s is None
    assert tracker.newest is not None
    assert (tracker.newest.throughput, tracker.newest.throughput_unit) == (3.75, "images/s")
