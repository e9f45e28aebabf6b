"""A quiet job is remembered, a sick one is not, and who watches it again is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from hwtop.feed.feed import frames
from hwtop.feed.learn import AGAIN_S, Learner
from hwtop.model.baseline import Baseline
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import cpu, dump, launcher, log_lines, logs, processes, rank, snapshot, stacks

DEADLINE_S = 60.0


class Shelf:
    """In place of the disk."""

    def __init__(self) -> None:
        self.runs: dict[str, tuple[Baseline, ...]] = {}
        self.saved = 0
        self.loaded = threading.Event()

    def load(self, key: str) -> Sequence[Baseline]:
        self.loaded.set()
        return self.runs.get(key, ())

    def save(self, key: str, newest: Baseline, runs: Sequence[Baseline]) -> None:
        self.runs[key] = (*runs, newest)
        self.saved += 1


def training(at_s: float, step_s: float = 1.0, argument: str = "1", loss: str = "2.5") -> Snapshot:
    ticks = int(at_s * 50)
    step = int(at_s / step_s)
    ranks = [
        rank(number, user_ticks=ticks, cmdline=("python", "train.py", argument), cwd="/home/me") for number in range(2)
    ]
    lines = log_lines("/logs/rank_0.log", at_s, f"step {step} loss {loss} step_time {step_s}", first=step)
    return snapshot(
        at_s,
        cpu=cpu(at_s, ticks),
        process=processes(at_s, launcher(), *ranks),
        stacks=stacks(at_s, dump(110, at_s), dump(111, at_s)),
        logs=logs(at_s, *lines),
    )


def watch(shelf: Shelf, seconds: int, step_s: float = 1.0, argument: str = "1", loss: str = "2.5") -> list[Frame]:
    """As long as the learner's threads take little; they do no work but that of `Shelf`."""
    shelf.loaded.clear()

    def reported() -> Iterator[Snapshot]:
        for second in range(seconds):
            if second == 8:
                shelf.loaded.wait(DEADLINE_S)
            yield training(float(second), step_s, argument, loss)

    return list(frames(reported(), learner=Learner(shelf.load, shelf.save)))


def settled(shelf: Shelf, saved: int) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while shelf.saved < saved and time.monotonic() < deadline_s:
        threading.Event().wait(0.01)
    assert shelf.saved == saved


def slower(frame: Frame) -> tuple[str, str]:
    return next((each.verdict, each.result) for each in frame.hypotheses if "slower than before" in each.hypothesis)


def test_a_minute_without_findings_is_remembered_and_told_next_time() -> None:
    shelf = Shelf()
    watch(shelf, 90)
    settled(shelf, 1)
    ((run,),) = shelf.runs.values()
    assert run.levels["step_time_s"].median == 1.0

    verdict, reported = slower(watch(shelf, 50, step_s=1.5)[-1])
    assert verdict == "yes"
    assert reported.startswith("1.5 s a step, 1 s a step on ")
    assert "50 % more" in reported


def test_other_arguments_are_another_job() -> None:
    shelf = Shelf()
    watch(shelf, 90)
    settled(shelf, 1)
    assert slower(watch(shelf, 50, step_s=1.5, argument="2")[-1])[0] != "yes"


def test_a_job_with_a_warning_is_not_remembered() -> None:
    shelf = Shelf()
    found = watch(shelf, 90, loss="nan")[-1].findings
    assert [each.symptom for each in found if each.severity == "critical"] == ["loss-nan"]
    assert shelf.saved == 0


def test_a_short_watch_is_not_remembered() -> None:
    shelf = Shelf()
    watch(shelf, 50)
    assert shelf.saved == 0


@pytest.mark.slow
def test_a_long_watch_is_written_anew_from_time_to_time() -> None:
    shelf = Shelf()
    watch(shelf, int(70 + AGAIN_S))
    settled(shelf, 2)
    assert [len(runs) for runs in shelf.runs.values()] == [1]
