"""The table of usual suspects: what is proven is a yes, what was not measured is never a no."""

from __future__ import annotations

import pytest

from hwtop.model.job import Job
from hwtop.model.log import Severity
from hwtop.model.symptom import Answer, Finding
from hwtop.symptoms.history import History
from hwtop.symptoms.questions import QUESTIONS, hypotheses
from hwtop.symptoms.records import records
from tests.parts import replace
from tests.symptoms.derived_states import constant, derived, gpu, job, rank, shares

BUSY = job(rank(0, gpus=(0,), samples=40), rank(1, gpus=(1,), samples=40))


def finding(symptom: str, severity: Severity = "warning", folded: tuple[str, ...] = ()) -> Finding:
    return Finding(
        symptom=symptom,
        severity=severity,
        confidence=0.9,
        category="performance",
        title=f"{symptom} is here",
        evidence=(),
        next_steps=(),
        folded=folded,
    )


def answers(history: History, *findings: Finding) -> dict[str, tuple[Answer, str]]:
    return {each.hypothesis: (each.verdict, each.result) for each in hypotheses(history, findings)}


def test_a_healthy_job_is_acquitted_of_what_was_measured() -> None:
    reported = answers(constant(BUSY, 30, gpus=(gpu(0), gpu(1))))

    assert reported["Is it hung?"] == ("no", "last step 0 s ago")
    assert reported["Are the GPUs underutilized?"] == ("no", "GPU 0-1: 98 % busy over 10 s")
    assert reported["Is the data loader the bottleneck?"][0] == "no"
    assert reported["Is the CPU oversubscribed or limited?"][0] == "no"
    assert reported["Is the hardware throttled or faulty?"][0] == "no"
    assert "yes" not in [verdict for verdict, _ in reported.values()]


def test_what_was_not_measured_is_unknown_with_its_reason() -> None:
    reported = answers(
        History([derived(0.0, job(rank(samples=3, progress=None, step_age_s=None)), cpu=None, memory=None)])
    )

    assert reported["Are the GPUs underutilized?"] == ("unknown", "no rank is known to use a GPU")
    assert reported["Is the data loader the bottleneck?"] == ("unknown", "fewer than 20 stack samples of each rank")
    assert reported["Is the network slow?"] == ("unknown", "no interface reports its speed")
    assert reported["Has it stopped learning?"][0] == "unknown"
    assert "no" not in [reported[each][0] for each in reported if each not in ("Is it hung?", "Is the disk slow?")]


def test_a_finding_is_the_answer_to_its_question() -> None:
    reported = answers(constant(BUSY), finding("input-bound-cpu"), finding("gpu-lost", severity="critical"))

    assert reported["Is the data loader the bottleneck?"] == ("yes", "input-bound-cpu is here")
    assert reported["Is the hardware throttled or faulty?"] == ("yes", "gpu-lost is here")


def test_a_folded_finding_answers_as_well_and_a_note_does_not() -> None:
    root = finding("gpu-lost", folded=("hang: all wait for rank 3",))
    reported = answers(constant(BUSY), root, finding("throughput-drop", severity="info"))

    assert reported["Is it hung?"] == ("yes", "all wait for rank 3 (follows from another cause)")
    assert reported["Is it slower than before?"][0] != "yes"


@pytest.mark.parametrize(("share", "verdict"), [(0.02, "no"), (0.2, "unknown"), (0.5, "yes")])
def test_the_share_of_a_phase_decides(share: float, verdict: Answer) -> None:
    watched = job(rank(samples=60, phase_shares=shares(collective=share, forward=1 - share)))
    assert answers(constant(watched))["Does communication dominate?"][0] == verdict


def test_there_is_nothing_to_ask_without_a_job() -> None:
    no_job: Job | None = None
    assert hypotheses(History([derived(0.0, no_job)]), ()) == ()


def test_every_question_is_answered_by_a_symptom() -> None:
    assert {question.id for question in QUESTIONS} == {
        name for record in records().values() for name in record.questions
    }


def test_a_gpu_that_does_not_answer_leaves_the_question_open() -> None:
    lost = replace(gpu(1), status="lost", util_pct=None)
    answer = answers(constant(BUSY, gpus=(gpu(0), lost)))["Is the hardware throttled or faulty?"]
    assert answer == ("unknown", f"GPU {lost.index} does not answer")
