"""What the user did to the job through hwtop is no finding."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from hwtop.feed.assemble import Assembler
from hwtop.model.frame import Frame
from hwtop.model.process import GoneProcess
from hwtop.model.signal import SentSignal
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import BOOT_S, gone, launcher, log_lines, logs, processes, rank, snapshot

SENT_S = 30.0
AT = datetime.fromtimestamp(BOOT_S + SENT_S).strftime("%H:%M:%S")


def watched(
    name: str | None,
    *,
    pids: tuple[int, ...] = (111,),
    ends: bool = False,
    goes_on: bool = False,
    state: str = "S",
) -> Frame:
    """Two ranks of which rank 1 is killed at 31 s, a second after the user sent it a signal."""
    assembler, frame = Assembler(), None
    for at_s in range(10, 60):
        frame = assembler.advance(_at(float(at_s), name, pids, ends, goes_on, state))
    assert frame is not None
    return frame


def _at(at_s: float, name: str | None, pids: tuple[int, ...], ends: bool, goes_on: bool, state: str) -> Snapshot:
    sent = (SentSignal(signal=name, pids=pids, at_s=SENT_S),) if name is not None and at_s >= SENT_S else ()
    is_gone = at_s > SENT_S
    found: list[Any] = [] if ends and is_gone else [launcher(), rank(0), *([] if is_gone else [rank(1, state=state)])]
    lost: list[GoneProcess] = [gone(111, SENT_S + 1, -9)] if is_gone else []
    steps = log_lines("/logs/rank_0.log", at_s, f"step {int(at_s)} loss 2.5", first=int(at_s))
    is_told = at_s <= SENT_S or goes_on
    reading = processes(at_s, *found, gone=lost, root_pid=None if ends and is_gone else 100)
    return snapshot(at_s, process=reading, logs=logs(at_s, *(steps if is_told else [])), sent_signals=sent)


def ids(frame: Frame) -> list[str]:
    return [finding.symptom for finding in frame.findings if finding.severity != "info"]


def test_a_rank_that_somebody_else_kills_is_a_finding() -> None:
    assert ids(watched(None)) == ["rank-dead"]


def test_a_rank_that_the_user_kills_is_none() -> None:
    frame = watched("SIGKILL")
    assert ids(frame) == []
    assert frame.verdict.level == "info"
    assert frame.verdict.text == f"Interrupted by you (SIGKILL to rank 1 at {AT})"


def test_the_end_of_the_job_names_who_ended_it() -> None:
    frame = watched("SIGTERM", pids=(100,), ends=True)
    assert (frame.verdict.level, ids(frame)) == ("ended", [])
    assert frame.verdict.text == f"Ended by you (SIGTERM to the launcher at {AT})"


def test_what_was_wrong_before_stays_in_the_sentence() -> None:
    frame = watched("SIGKILL", state="T")
    begins = f"Interrupted by you (SIGKILL to rank 1 at {AT}); before: Rank 1 is stopped"
    assert frame.verdict.text.startswith(begins)


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGCONT"])
def test_a_signal_that_ends_nothing_explains_nothing(name: str) -> None:
    assert ids(watched(name)) == ["rank-dead"]


def test_a_job_that_trained_on_ends_for_another_reason() -> None:
    assert ids(watched("SIGTERM", goes_on=True)) == ["rank-dead"]
