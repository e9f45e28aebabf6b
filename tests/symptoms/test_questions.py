"""The table of usual suspects: what is proven is a yes, what was not measured is never a no."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.job import Job
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Answer, Finding
from hwtop.symptoms import questions
from hwtop.symptoms.history import History
from hwtop.symptoms.questions import QUESTIONS, hypotheses
from hwtop.symptoms.records import records
from hwtop.symptoms.result import Result
from tests.parts import replace
from tests.symptoms.curves import curve, watched
from tests.symptoms.derived_states import constant, derived, gpu, job, rank, row, shares

NOISE = random.Random(4)


@pytest.fixture(autouse=True)
def _same_noise_whichever_test_ran_before() -> None:
    NOISE.seed(4)


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

    assert reported["Is it hung?"] == ("no", "last step 0.3 s ago")
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
    watched = job(rank(samples=60, phase_shares=shares(collective=share, forward=1 - share), wait_share=share))
    assert answers(constant(watched))["Does communication dominate?"][0] == verdict


@pytest.mark.parametrize(("waits", "verdict"), [(0.02, "no"), (0.2, "unknown"), (0.55, "yes")])
def test_waits_for_other_ranks_inside_of_backward_are_communication(waits: float, verdict: Answer) -> None:
    watched = job(rank(samples=60, phase_shares=shares(backward=0.8, forward=0.2), wait_share=waits))
    found, text = answers(constant(watched))["Does communication dominate?"]
    assert (found, text.startswith(f"{waits:.0%}".replace("%", " %"))) == (verdict, True)


def test_who_is_alone_waits_for_the_device_and_not_for_ranks() -> None:
    syncs = [rank(number, samples=60, phase_shares=shares(sync=0.9, other=0.1), wait_share=0.9) for number in range(2)]
    assert answers(constant(job(*syncs)))["Does communication dominate?"][0] == "yes"
    assert answers(constant(job(syncs[0])))["Does communication dominate?"][0] != "yes"


def test_where_the_job_stands_still_communication_does_not_dominate_it() -> None:
    late = [rank(number, samples=60, phase_shares=shares(collective=1.0), state="stuck") for number in range(2)]
    verdict, text = answers(constant(job(*late)))["Does communication dominate?"]
    assert (verdict, text.endswith("no rank moves")) == ("unknown", True)


@pytest.mark.parametrize(("unknown", "verdict"), [(0.02, "no"), (0.8, "unknown")])
def test_time_in_code_that_nobody_knows_proves_nothing(unknown: float, verdict: Answer) -> None:
    watched = job(rank(samples=60, phase_shares=shares(other=unknown, forward=1 - unknown)))
    found, text = answers(constant(watched))["Do checkpoints or logging take long?"]
    assert (found, "80 % of rank 0's are in code of unknown purpose" in text) == (verdict, unknown == 0.8)


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


def trained(losses: list[float], *others: Curve, **fields: Any) -> History:
    return watched(curve("loss", losses), *others, **fields)


FALLING = [2 + 3 * math.exp(-step / 200) + NOISE.gauss(0, 0.01) for step in range(300)]


@pytest.mark.parametrize(
    ("losses", "verdict", "says"),
    [
        (FALLING, "no", "300 losses of steps 1 to 300"),
        (FALLING[:40], "unknown", "40 losses of steps 1 to 40, newest"),
        ([*FALLING[:200], *[2000.0] * 5, *FALLING[200:]], "unknown", "1 jump, the newest at step 201 to 2000"),
        ([2.3 + NOISE.gauss(0, 0.01) for _ in range(300)], "unknown", "it does not fall in the second half"),
    ],
)
def test_learning_is_proven_by_a_loss_that_falls_without_a_jump(
    losses: list[float], verdict: Answer, says: str
) -> None:
    found = answers(trained(losses))["Has it stopped learning?"]
    assert (found[0], says in found[1]) == (verdict, True), found[1]


def paced(values: list[float], first: int = 1) -> Curve:
    points = tuple(CurvePoint(first + index, 500.0 + index, value) for index, value in enumerate(values))
    return Curve(name="step_time_s", source="/logs/rank_0.log", rank=0, points=points)


STEADY = [0.2 * (1 + NOISE.gauss(0, 0.02)) for _ in range(200)]


@pytest.mark.parametrize(
    ("times", "verdict", "says"),
    [
        (
            paced([0.3 * (1 + index / 100) for index in range(65)]),
            "unknown",
            "it rises from 0.339 s to 0.483 s in 55 step times of steps 1 to 65: too short to distinguish a trend from a stretch of longer steps",
        ),
        (paced(STEADY), "no", "no change of 15 % or more, no trend in 190 step times of steps 1 to 200"),
        (paced([*STEADY[:90], *[1.0] * 9]), "unknown", "before: not yet for long enough to be a change"),
        (paced(STEADY[:30]), "unknown", "30 step times known; 45 are needed"),
        (paced([NOISE.choice((0.2, 0.9)) for _ in range(200)]), "unknown", "they differ too much from step to step"),
        (paced(STEADY[:60], first=241), "unknown", "of the reported steps before, no time is known"),
    ],
)
def test_a_steady_pace_is_claimed_for_the_steps_that_were_seen(times: Curve, verdict: Answer, says: str) -> None:
    found = answers(trained(FALLING, times))["Is it slower than before?"]
    assert (found[0], says in found[1]) == (verdict, True), found[1]


def test_a_note_leaves_its_question_open() -> None:
    found = answers(trained(FALLING), finding("loss-plateau", severity="info"))
    assert found["Has it stopped learning?"] == ("unknown", "loss-plateau is here")


def test_one_idle_gpu_is_not_hidden_by_the_mean() -> None:
    pair = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)), rank(2, gpus=(2,)), rank(3, gpus=(3,)))
    gpus = (gpu(0), gpu(1), gpu(2), replace(gpu(3), util_pct=5.0))
    verdict, text = answers(constant(pair, 30, gpus=gpus))["Are the GPUs underutilized?"]
    assert (verdict, "GPU 3 5 %" in text) == ("unknown", True), text


@pytest.mark.parametrize(("samples", "verdict"), [(20, "unknown"), (25, "no")])
def test_few_samples_without_a_hit_prove_nothing(samples: int, verdict: Answer) -> None:
    known = job(rank(samples=samples, phase_shares=shares(forward=1.0)))
    assert answers(constant(known))["Do checkpoints or logging take long?"][0] == verdict


@pytest.mark.parametrize(("used", "verdict"), [(600, "no"), (950, "unknown")])
def test_nothing_runs_out_only_where_no_limit_is_near(used: int, verdict: Answer) -> None:
    known = job(rank(), processes=(row(fd_count=used, fd_limit=1000, start_ticks=7),))
    found = answers(constant(known, 30))["Does memory grow, or run out?"]
    assert (found[0], "open files" in found[1]) == (verdict, True), found[1]


def test_a_measure_that_fails_leaves_its_question_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_history: History) -> Result:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(questions, "QUESTIONS", (replace(QUESTIONS[0], measure=broken), QUESTIONS[1]))
    first, second = hypotheses(constant(job(rank()), 5), ())
    assert (first.verdict, first.result) == ("unknown", "internal error: ZeroDivisionError: division by zero")
    assert not second.result.startswith("internal error")
