"""Thresholds that a person sets: what they change, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import structs

from hwtop.errors import UsageError
from hwtop.model.host.disk import MountReading
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.rule import Limits, Rule
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import settable, with_thresholds
from tests.symptoms.curves import curve, watched
from tests.symptoms.derived_states import constant, gpu, job, rank

ADJUSTABLE = [rule for rule in RULES if rule.limits is not None]


def found(wanted: Mapping[str, Mapping[str, float]]) -> set[str]:
    """With /dev/shm at 85 %."""
    shm = MountReading(mount_point="/dev/shm", device="shm", fs_type="tmpfs", total_bytes=100, used_bytes=85)
    seen = constant(job(rank()), mounts=(shm,))
    rules = with_thresholds(RULES, wanted)
    return {rule.symptom for rule in rules if rule.look(seen) is not None}


def test_a_lower_threshold_finds_more_and_says_so() -> None:
    assert "shm-nearly-full" not in found({})
    assert "shm-nearly-full" in found({"shm-nearly-full": {"used_pct": 80}})
    rules = {rule.symptom: rule for rule in with_thresholds(RULES, {"shm-nearly-full": {"used_pct": 80}})}
    assert rules["shm-nearly-full"].says.startswith("/dev/shm over 80 % full")


def test_a_smaller_slowdown_can_be_asked_for() -> None:
    seen = watched(curve("step_time_s", [*[1.0] * 200, *[1.1] * 60]))
    drop = next(rule for rule in RULES if rule.symptom == "throughput-drop")
    assert drop.look(seen) is None
    (finer,) = with_thresholds([drop], {"throughput-drop": {"slower_share": 0.05}})
    assert finer.look(seen) is not None


@pytest.mark.parametrize("rule", ADJUSTABLE, ids=lambda rule: rule.symptom)
def test_the_defaults_change_nothing(rule: Rule) -> None:
    (again,) = with_thresholds([rule], {rule.symptom: settable(rule)})
    assert again == rule


@pytest.mark.parametrize("rule", ADJUSTABLE, ids=lambda rule: rule.symptom)
def test_each_number_that_can_be_set_is_told_in_the_words_of_the_rule(rule: Rule) -> None:
    for name, value in (rule.limits or {}).items():
        other = value + 7 if isinstance(value, int) and "share" not in name else 0.9 * value
        limits = Limits({**(rule.limits or {}), name: other})
        assert structs.replace(rule, limits=limits).says != rule.says, name


def test_how_long_it_must_hold_can_be_set_of_every_symptom() -> None:
    wanted = {rule.symptom: {"raise_s": 7, "clear_s": 99.5} for rule in RULES}
    assert {(rule.raise_s, rule.clear_s) for rule in with_thresholds(RULES, wanted)} == {(7.0, 99.5)}


def test_evidence_quotes_the_window_that_holds() -> None:
    low = gpu(0, util_pct=20.0)
    seen = constant(job(rank(0, gpus=(0,), phase_shares=())), seconds=70, gpus=(low,))
    rule = next(rule for rule in RULES if rule.symptom == "gpu-low-utilization")
    (shorter,) = with_thresholds([rule], {"gpu-low-utilization": {"window_s": 30}})
    found = shorter.look(seen)
    assert found is not None
    assert "over 30 s" in found.title


def test_the_order_of_the_rules_stays() -> None:
    wanted = {"shm-nearly-full": {"used_pct": 80.0}, "input-bound-io": {"data_share": 0.5}}
    assert [rule.symptom for rule in with_thresholds(RULES, wanted)] == [rule.symptom for rule in RULES]
    Judge(with_thresholds(RULES, wanted)).advance(constant(job(rank())), 30.0)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"shm-nearly-ful": {"used_pct": 80}}, "did you mean 'shm-nearly-full'"),
        ({"hang": {"seconds": 3}}, "hang has no threshold 'seconds': there are "),
        ({"hang": {"raise_sec": 3}}, "hang has no threshold 'raise_sec': did you mean 'raise_s'?"),
        ({"no-such-thing-at-all": {}}, "`hwtop symptoms` lists them"),
        ({"hang": {"raise_s": -1}}, "hang.raise_s = -1: it must be at least 0, at most 3600; the default is 0.5"),
        ({"shm-nearly-full": {"usedpct": 80}}, "has no threshold 'usedpct': did you mean 'used_pct'"),
        (
            {"shm-nearly-full": {"used_pct": 0}},
            "shm-nearly-full.used_pct = 0: it must be above 0, at most 100; the default is 90",
        ),
        ({"shm-nearly-full": {"used_pct": 101}}, "at most 100"),
        (
            {"input-bound-cpu": {"data_share": 20}},
            "input-bound-cpu.data_share = 20: it must be above 0, at most 1; a share: 0.15 is 15 %; the default is 0.2",
        ),
        ({"disk-nearly-full": {"room_gb": float("nan")}}, "is not a number"),
        ({"disk-nearly-full": {"room_gb": float("inf")}}, "is not a number"),
    ],
)
def test_what_makes_no_sense_is_refused(wanted: Mapping[str, Mapping[str, float]], says: str) -> None:
    with pytest.raises(UsageError) as raised:
        with_thresholds(RULES, wanted)
    assert says in str(raised.value)
