"""throughput-drop, step-time-rising."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from msgspec.structs import replace

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.rank_stack import GrownShare, HotSpot
from hwtop.model.symptom import Finding
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loader import check_cause
from hwtop.symptoms.rule import Observation
from hwtop.symptoms.training.answers import slower_since_the_start
from hwtop.symptoms.training.pace import AFTER_POINTS
from hwtop.symptoms.training.slowdown import check_drop
from hwtop.symptoms.training.trend import check_rising
from tests.symptoms.curves import curve, watched
from tests.symptoms.derived_states import cpu, derived, history, job, rank, row, shares

NOISE = random.Random(3)


@pytest.fixture(autouse=True)
def _same_noise_whichever_test_ran_before() -> None:
    NOISE.seed(3)


def steps(count: int, seconds: float = 3.0, by: float = 0.03) -> list[float]:
    return [seconds * (1 + NOISE.gauss(0, by)) for _ in range(count)]


def with_pauses(values: Sequence[float], every: int, lasts: int, seconds: float) -> list[float]:
    return [seconds if index % every >= every - lasts else value for index, value in enumerate(values)]


QUICK = steps(200)
SLOW = steps(100, 4.2)
COMPILING = [300.0, 80.0, 50.0]


def said(*curves: Curve, **fields: Any) -> str | None:
    seen = check_drop(watched(*curves, **fields))
    return None if seen is None else seen.title


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*QUICK, *SLOW[:AFTER_POINTS]], True),
        ([*QUICK, *SLOW[: AFTER_POINTS - 2]], False),
        ([*QUICK, *SLOW], True),
        ([*QUICK, *steps(100, 3.6)], True),
        ([*QUICK, *steps(100, 3.3)], False),  # a tenth
        ([*QUICK, *SLOW, *steps(20)], False),  # over
        ([*QUICK, *SLOW, *steps(60, 6.0)], True),
        ([*QUICK[:45], *SLOW], False),  # too little is known of before
        ([*QUICK[:45], *steps(40, 8.0)], True),  # but where it is more than twice as long
        ([*QUICK[:30], *steps(40, 8.0)], False),  # ten warm it up
        ([*SLOW, *QUICK], False),  # quicker
        ([*COMPILING, *QUICK], False),
        ([*QUICK, *[30.0] * 4, *QUICK], False),
        (with_pauses(steps(400), 50, 1, 40.0), False),  # a checkpoint each 50 steps
        (with_pauses(steps(400), 100, 9, 8.0), False),  # evaluation
        ([*with_pauses(steps(300), 50, 1, 40.0), *SLOW[:40]], True),
        ([NOISE.uniform(2.0, 6.0) for _ in range(400)], False),  # lengths
        ([2.0 + 4.0 * (index % 40) / 40 for index in range(397)], False),  # sorted by length
        ([3.0 + 0.01 * index for index in range(300)], False),  # little by little
        ([], False),
    ],
)
def test_a_change(values: list[float], expected: bool) -> None:
    assert (said(curve("step_time_s", values)) is not None) is expected
    throughput = [8192 / value for value in values]
    assert (said(curve("throughput", throughput, unit="tokens/s")) is not None) is expected


def test_the_time_of_day_and_the_numbers() -> None:
    values = [*[0.31] * 200, *[0.428] * 60]
    title = said(curve("step_time_s", values, every=10, live=60))
    assert title is not None
    assert re.fullmatch(r"Step time rose 38 % at \d\d:\d\d:\d\d \(step 2010\), from 0\.31 s to 0\.428 s", title)
    assert said(curve("step_time_s", values)) == "Step time rose 38 % at step 201, from 0.31 s to 0.428 s"
    reported = said(curve("throughput", [1000 / value for value in values], unit="tokens/s"))
    assert reported == "Throughput fell 28 % at step 201, from 3226 tokens/s to 2336 tokens/s"


@pytest.mark.parametrize(("slow", "expected"), [(20, False), (21, True)])
def test_quick_steps_must_stay_slow_for_a_while(slow: int, expected: bool) -> None:
    assert (said(curve("step_time_s", [*[0.31] * 200, *[0.428] * slow])) is not None) is expected


def test_longer_sequences_are_no_fault_where_the_tokens_a_second_stay() -> None:
    times = [*QUICK, *SLOW]
    same = [27_000 + NOISE.gauss(0, 300) for _ in times]
    fewer = [8192 / value for value in times]
    assert said(curve("step_time_s", times), curve("throughput", same, unit="tokens/s")) is None
    assert said(curve("step_time_s", times), curve("throughput", fewer, unit="tokens/s")) is not None


def test_a_sum_over_the_distance_of_the_lines_is_no_step_time() -> None:
    points = [CurvePoint(10 * index, float(index), 3.0 + NOISE.gauss(0, 0.05), is_past=True) for index in range(1, 101)]
    points += [
        CurvePoint(1000 + 20 * index, 100.0 + index, 6.0 + NOISE.gauss(0, 0.1), is_past=True) for index in range(1, 60)
    ]
    assert said(Curve(name="step_time_s", source="/logs/a.log", points=tuple(points))) is None
    slower = [replace(point, value=point.value * 1.5) if index >= 100 else point for index, point in enumerate(points)]
    assert said(Curve(name="step_time_s", source="/logs/a.log", points=tuple(slower))) is not None


@pytest.mark.parametrize(
    ("why", "step_s", "since", "util_pct", "expected"),
    [
        ("twice as long, for long enough", 0.7, 12, 15.0, True),
        ("for a moment", 0.7, 7, 15.0, False),
        ("less than twice", 0.5, 12, 15.0, False),
        ("others use half of the cores, and may end", 0.7, 12, 60.0, False),
        ("they do not", 0.7, 25, 60.0, True),
    ],
)
def test_a_change_to_twice_the_level_is_reported_sooner(
    why: str, step_s: float, since: int, util_pct: float, expected: bool
) -> None:
    values = curve("step_time_s", [*[0.3] * 200, *[step_s] * since], live=60)
    busy = replace(job(rank(0), curves=(values,)), processes=(row(1000, cpu_pct=100.0),))
    seen = check_drop(history(60, lambda second: derived(940.0 + second, busy, cpu=cpu(util_pct))))
    assert (seen is not None) == expected, why


def test_what_moved_at_the_same_time() -> None:
    curves = (curve("step_time_s", [*[0.31] * 200, *[0.428] * 30], live=60),)

    def at(second: int) -> Any:
        busy = 40.0 if second < 31 else 97.0
        return derived(940.0 + second, job(rank(0), curves=curves), cpu=cpu(busy))

    seen = check_drop(history(60, at))
    assert seen is not None
    assert "moved at the same time: CPU of the machine from 40 to 97 %" in seen.evidence


def test_a_job_that_has_ended_is_not_slow() -> None:
    ended = job(rank(0), curves=(curve("step_time_s", [*QUICK, *SLOW]),), has_ended=True)
    assert check_drop(History([derived(1.0, ended)])) is None


def rising(values: Sequence[float], **fields: Any) -> str | None:
    seen = check_rising(watched(curve("step_time_s", values), **fields))
    return None if seen is None else seen.title


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([value * (1 + index / 1000) for index, value in enumerate(steps(300))], True),
        ([value * (1 + index / 2500) for index, value in enumerate(steps(300))], False),  # an eighth
        ([value * (1 + index / 400) for index, value in enumerate(steps(110))], False),  # not long enough
        ([10 * value * (1 + index / 30) for index, value in enumerate(steps(80))], True),  # but three times as slow
        ([10 * value * (1 + index / 30) for index, value in enumerate(steps(65))], False),
        ([value * (1 + index**2 / 40) for index, value in enumerate(steps(50))], True),  # fivefold: even fewer
        ([value * (1 + index**2 / 40) for index, value in enumerate(steps(38))], False),
        ([value / 60 * (1 + index / 40) for index, value in enumerate(steps(200))], True),  # sixfold in half a minute
        (
            [value / 6 * (1 + index / 30) for index, value in enumerate(steps(100))],
            True,
        ),  # fourfold: a hundred values will do
        (with_pauses([value * (1 + index / 1000) for index, value in enumerate(steps(400))], 50, 2, 40.0), True),
        ([*COMPILING, *steps(400)], False),
        ([*QUICK, *SLOW], False),  # at once
        ([*[value * (1 + index / 400) for index, value in enumerate(steps(150))], *steps(250)], False),  # over
        ([NOISE.uniform(2.0, 6.0) for _ in range(400)], False),
        ([2.0 + 4.0 * (index % 40) / 40 for index in range(397)], False),
    ],
)
def test_little_by_little(values: list[float], expected: bool) -> None:
    assert (rising(values) is not None) is expected


@pytest.mark.parametrize(("seconds", "times", "expected"), [(34, 2.2, False), (48, 2.2, True), (34, 2.9, True)])
def test_the_longer_a_rise_lasts_the_less_it_need_be(seconds: int, times: float, expected: bool) -> None:
    values = [0.1 * times ** (1.15 * index / seconds) for index in range(seconds + 1)]  # of which the levels lose a bit
    found = check_rising(watched(curve("step_time_s", values, every=20, live=seconds + 1)))
    assert (found is not None) is expected


def test_sequences_that_grow_by_plan() -> None:
    times = [value * (1 + index / 500) for index, value in enumerate(steps(400))]
    same = [27_000 + NOISE.gauss(0, 300) for _ in times]
    assert check_rising(watched(curve("step_time_s", times), curve("throughput", same, unit="tokens/s"))) is None


def test_what_rising_tells() -> None:
    title = rising([0.3 + 0.0003 * index for index in range(510)])
    assert title is not None
    assert title == "Step time rises gradually since step 11: from 0.312 s to 0.443 s"


def test_a_rise_by_one_place_in_the_code_is_told_sooner_and_with_the_place() -> None:
    values = [0.3 * (1 + index / 90) for index in range(130)]  # 2.4-fold, told within 40 s

    def seen(now: float) -> Observation | None:
        grown = GrownShare(
            function="summary", file="grow.py", line=7, before=0.4, now=now, first_s=(871, 885), last_s=(985, 1000)
        )
        trains = job(rank(0, grown=(grown,)), curves=(curve("step_time_s", values, live=130),))
        return check_rising(History([derived(1000.0, trains)]))

    found = seen(0.8)
    assert found is not None
    assert found.title.endswith("; summary (grow.py:7) takes 80 % of a step, 40 % before")
    everything = seen(0.5)
    assert everything is None or "summary" not in everything.title


def test_what_grows_is_no_lack_of_loader_workers() -> None:
    place: dict[str, Any] = {"function": "sample", "file": "dqn.py"}
    grown = GrownShare(**place, line=0, before=0.4, now=0.7, first_s=(871, 885), last_s=(985, 1000))
    hot = (HotSpot(**place, line=7, share=0.7, samples=70),)

    def seen(times: float) -> tuple[bool, bool]:
        curves = (curve("step_time_s", [0.3 * (1 + (times - 1) * index / 130) for index in range(130)], live=130),)
        one = rank(0, grown=(grown,), phase_shares=shares(data_main=0.7), workers=(), hot=hot)
        watched_ = History([derived(1000.0, job(one, curves=curves))])
        return check_rising(watched_) is not None, check_cause("workers", watched_) is not None

    assert seen(1.0) == (False, True), "it takes its time, and no longer than it did"
    assert seen(1.9) == (True, False)


def test_a_known_cause_takes_it_in() -> None:
    def finding(symptom: str) -> Finding:
        return Finding(
            symptom=symptom,
            severity="warning",
            confidence=0.9,
            category="performance",
            title="",
            evidence=(),
            next_steps=(),
        )

    found = fold([finding("cpu-oversubscribed"), finding("throughput-drop"), finding("step-time-rising")])
    assert [each.symptom for each in found] == ["cpu-oversubscribed"]


@pytest.mark.parametrize(
    ("every", "values", "expected"),
    [
        (20, [*steps(12, 0.1), *steps(11, 0.25)], True),
        (20, [*steps(12, 0.1), *steps(11, 0.15)], False),  # few values show no less than twice
        (20, [*steps(12, 0.1), 0.3, 0.09, *steps(8, 0.25)], False),  # one of the first was as slow
        (20, [*steps(12, 0.1), *steps(3, 0.25)], False),
        (1, [*steps(12, 0.1), *steps(11, 0.25)], False),
        (20, [*steps(23, 0.1)], False),
    ],
)
def test_a_line_for_many_steps_counts_as_many(every: int, values: list[float], expected: bool) -> None:
    assert (said(curve("step_time_s", values, every=every)) is not None) is expected


def test_a_pace_of_few_values_answers_no_question() -> None:
    few = watched(curve("step_time_s", steps(20, 0.1), every=20))
    assert check_drop(few) is None
    assert slower_since_the_start(few).verdict == "unknown"


def rates(count: int, seconds: Sequence[float], is_since_start: bool) -> Curve:
    """Of so many frames at once, each time after so many seconds; the second half was told while hwtop watched."""
    times = list(accumulate(seconds))
    ends = [count * (index + 1) for index in range(len(times))]
    values = [end / at_s for end, at_s in zip(ends, times, strict=True)]
    if not is_since_start:
        values = [count / took_s for took_s in seconds]
    points = [
        CurvePoint(end, at_s, value, is_past=end <= ends[-1] / 2)
        for end, at_s, value in zip(ends, times, values, strict=True)
    ]
    return Curve(name="throughput", unit="frames/s", source="run.log", rank=0, points=tuple(points))


@pytest.mark.parametrize("count", [1024, 16])
def test_a_rate_since_the_start_that_still_forgets_a_fast_beginning_falls_for_no_reason(count: int) -> None:
    fast_at_first = [0.2] * 20 + [0.3 * (1 + NOISE.gauss(0, 0.05)) for _ in range(120)]
    assert check_rising(watched(rates(count, fast_at_first, is_since_start=True))) is None


def test_rates_that_were_all_told_before_the_watch_fall_for_no_known_reason() -> None:
    since_start = rates(512, [0.2] * 20 + [0.3] * 120, is_since_start=True)
    untimed = replace(since_start, points=tuple(replace(each, is_past=True) for each in since_start.points))
    assert check_rising(watched(untimed)) is None


@pytest.mark.parametrize("count", [1024, 16])
def test_a_rate_of_each_line_that_falls_is_told(count: int) -> None:
    slower = [0.2 + 0.001 * index for index in range(140)]
    seen = check_rising(watched(rates(count, slower, is_since_start=False)))
    assert seen is not None and seen.title.startswith("Throughput falls")


@pytest.mark.parametrize(("slow", "severity"), [(4.4, "info"), (7.5, "warning")])
def test_a_drop_to_less_than_half_while_others_leave_no_core_is_noted(slow: float, severity: str) -> None:
    curves = (curve("step_time_s", [*steps(100), *steps(40, slow)], live=140),)
    one = job(rank(0), curves=curves, processes=(row(cpu_pct=390.0),))
    seen = check_drop(history(60, lambda second: derived(940.0 + second, one, cpu=cpu(99.0), own_cpu_pct=5.0)))
    assert seen is not None and seen.severity == severity
    assert any("processes outside the job use 4.0 of the 8 cores" in line for line in seen.evidence) is (
        severity == "info"
    )
