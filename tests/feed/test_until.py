"""Which event ends a wait, and which does not."""

from __future__ import annotations

import pytest

from hwtop.errors import UsageError
from hwtop.feed.until import condition, event, newest_step
from hwtop.model.frame import Frame
from hwtop.model.reported.log import Progress
from hwtop.model.symptom import Finding
from tests import frames
from tests.parts import replace

KNOWN = ("hang", "loss-plateau")
ALL = ["ended", "stalled", "symptom", "step=99999999", "loss<0.001"]


def of_job(frame: Frame, **fields: object) -> Frame:
    job = frame.derived.job
    assert job is not None
    return replace(frame, derived=replace(frame.derived, job=replace(job, **fields)))


def finding(symptom: str, severity: str = "critical") -> Finding:
    (first,) = frames.dead_rank().findings
    return replace(first, symptom=symptom, severity=severity)


def reason(frame: Frame, *events: str, quiet_for_s: float | None = None) -> str | None:
    found = event(frame, [condition(text, KNOWN) for text in events], quiet_for_s)
    return found.reason if found else None


def test_a_healthy_job_is_no_event() -> None:
    assert reason(frames.healthy(), *ALL, quiet_for_s=60.0) is None


def test_the_end_of_the_job_always_counts_once_its_last_words_are_read() -> None:
    frame = of_job(frames.healthy(), has_ended=True, ended_for_s=0.5, exit_code=-9)
    assert reason(frame, *ALL) is None
    found = event(of_job(frame, ended_for_s=2.5), [condition("step=1", KNOWN)], None)
    assert found is not None
    assert (found.reason, found.text) == ("ended", "the job has ended, killed by SIGKILL")


@pytest.mark.parametrize(
    ("symptom", "severity", "until", "expected"),
    [
        ("hang", "critical", "stalled", "stalled"),
        ("rank-dead", "critical", "stalled", "stalled"),
        ("hang", "info", "stalled", None),
        ("loss-nan", "critical", "stalled", None),
        ("loss-nan", "critical", "symptom", "symptom"),
        ("loss-plateau", "info", "symptom", None),
        ("loss-plateau", "info", "symptom:loss-plateau", "symptom"),
        ("loss-nan", "critical", "symptom:hang", None),
    ],
)
def test_findings(symptom: str, severity: str, until: str, expected: str | None) -> None:
    frame = replace(frames.healthy(), findings=(finding(symptom, severity),))
    assert reason(frame, until) == expected


def test_a_step_and_a_loss_that_are_reached() -> None:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    step = newest_step(job)
    assert step is not None
    assert reason(frame, f"step={step}") == "reached"
    assert reason(frame, f"step={step + 1}") is None
    known = of_job(frame, ranks=(replace(job.ranks[0], progress=Progress(step=3, loss=1.5)),))
    assert reason(known, "loss<1.6") == "reached"
    assert reason(known, "loss<1.5") is None
    nan = of_job(frame, ranks=(replace(job.ranks[0], progress=Progress(step=3, loss=float("nan"))),))
    assert reason(nan, "loss<1e9") is None


def test_silence_of_the_users_length_is_a_stall() -> None:
    frame = frames.hang()
    assert reason(frame, "step=99999999") is None
    assert reason(frame, "step=99999999", quiet_for_s=20.0) == "stalled"
    assert reason(frame, "step=99999999", quiet_for_s=2000.0) is None


@pytest.mark.parametrize(
    "text", ["done", "step", "step=", "step=1.5", "loss<", "loss<x", "ended:hang", "symptom:", "symptom:none", ""]
)
def test_what_is_no_event_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(UsageError, match=r"use "):
        condition(text, KNOWN)
