"""A watch condensed, and two of them compared: slower, and where."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hwtop.model.baseline import Baseline, Comparison, JobIdentity
from hwtop.model.frame import DerivedState
from hwtop.report.baseline import comparison_text, saved_text
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.baseline import compare
from hwtop.symptoms.runs.levels import identity_of, levels_of, levels_of_log
from tests.parts import replace
from tests.symptoms.curves import curve
from tests.symptoms.derived_states import GIB, derived, gpu, history, job, rank, row, shares


def watched(
    step_s: float = 0.3, *, seed: int = 1, noise: float = 0.03, tokens: float | None = None, **fields: Any
) -> History:
    """A minute of two ranks."""
    chance = random.Random(seed)
    times = [step_s * (1 + chance.gauss(0, noise)) for _ in range(120)]
    curves = [curve("step_time_s", times, live=120)]
    if tokens is not None:
        curves.append(
            curve("throughput", [tokens * (1 + chance.gauss(0, noise)) for _ in times], live=120, unit="tokens/s")
        )
    data = fields.pop("data", 0.04)
    phases = shares(data=data, forward=0.9 - data, backward=0.1)
    ranks = [rank(n, gpus=(n,), samples=60, phase_shares=phases, tree_anon_bytes=2 * GIB) for n in range(2)]

    def at(second: int) -> DerivedState:
        rows = tuple(gpu(n, **fields) for n in range(2))
        return derived(940.0 + second, job(*ranks, curves=tuple(curves)), gpus=rows)

    return history(60, at)


def baseline(seen: History, unit: str | None = None, **identity: Any) -> Baseline:
    known = replace(identity_of(seen), **identity)
    return Baseline(
        hwtop="1", saved_time_s=1e9, watched_s=60.0, identity=known, throughput_unit=unit, levels=levels_of(seen)
    )


GOOD = baseline(watched())


def against_good(seen: History, **identity: Any) -> Comparison:
    return compare(GOOD, baseline(seen, **identity))


@pytest.mark.parametrize("seed", range(8))
def test_the_same_run_again_is_not_slower(seed: int) -> None:
    found = against_good(watched(seed=seed, noise=0.1))
    assert (found.is_slower, found.is_quicker) == (False, False)
    assert not any(each.is_clear for each in found.differences)


@pytest.mark.parametrize(
    ("step_s", "noise", "slower", "quicker"),
    [
        (0.42, 0.03, True, False),
        (0.34, 0.03, True, False),
        (0.32, 0.01, False, False),  # 7 % is of no account
        (0.25, 0.03, False, True),
    ],
)
def test_slower(step_s: float, noise: float, slower: bool, quicker: bool) -> None:
    found = against_good(watched(step_s, noise=noise))
    assert (found.is_slower, found.is_quicker, found.pace) == (slower, quicker, "step_time_s")


def test_what_is_within_the_noise_is_not_slower() -> None:
    wild = baseline(watched(noise=0.9))
    assert compare(wild, baseline(watched(0.36, noise=0.9, seed=2))).is_slower is False


def test_where_it_is_slower() -> None:
    seen = baseline(watched(0.42, data=0.32, util_pct=70.0))
    found = compare(GOOD, seen)
    assert found.where == "data"
    clear = {each.name for each in found.differences if each.is_clear}
    assert clear == {"step_time_s", "data", "forward", "gpu_util_pct"}

    lines = comparison_text(found, GOOD, seen, "baseline good")
    assert lines[0].startswith("SLOWER than baseline good (2001-09-0")
    assert "step time 0.3 -> 0.42 s (+40 %): data share 4 % -> 32 %, 0.12 s of the 0.12 s that a step" in lines[0]
    assert any(line.startswith("* GPU utilization") and "98 % ->" in line for line in lines)


def test_larger_batches_are_not_slower_where_throughput_is_told() -> None:
    then = baseline(watched(0.3, tokens=10_000), "tokens/s")
    assert compare(then, baseline(watched(0.6, tokens=10_100), "tokens/s")).is_slower is False
    assert compare(then, baseline(watched(0.3, tokens=7_000), "tokens/s")).is_slower is True
    assert compare(then, baseline(watched(0.6, tokens=80), "samples/s")).pace == "step_time_s"


def test_without_a_pace_nobody_knows() -> None:
    blind = replace(GOOD, levels={"gpu_util_pct": GOOD.levels["gpu_util_pct"]})
    found = compare(GOOD, blind)
    assert found.is_slower is None
    assert comparison_text(found, GOOD, blind, "baseline x")[0].startswith("unknown whether slower than baseline x")


def test_other_jobs_are_named() -> None:
    found = against_good(watched(), world_size=4, gpus="4 x NVIDIA A100")
    assert found.not_alike == (("world size", "2", "4"), ("GPUs", "2 x NVIDIA H100 80GB HBM3", "4 x NVIDIA A100"))


def test_no_argument_is_kept() -> None:
    kept = row(command="/opt/bin/python3.11 -u /home/me/train.py --token s3cret")

    def script(command: str) -> str:
        one = replace(kept, command=command)
        return identity_of(History([derived(1.0, job(rank(0), processes=(one,)))])).script

    assert script(kept.command) == "train.py"
    assert script("python -m pkg.train s3cret") == "pkg.train"
    assert script("python -c import_s3cret") == "python"
    assert script("/opt/trainer s3cret") == "trainer"
    assert script("") == "unknown"


def test_what_is_saved_is_told() -> None:
    reported = saved_text(GOOD, "good")
    assert reported[0].startswith(
        "baseline good saved: unknown, 2 ranks, box, 8 cores, 30 GiB, 2 x NVIDIA H100 80GB HBM3"
    )
    assert any("step time" in line and "110 values" in line for line in reported)
    assert not any("checkpoint" in line for line in reported)  # never in it


def test_logs_without_their_warm_up() -> None:
    levels = levels_of_log([9.0] * 5 + [0.2] * 40, [float("nan")])
    assert levels["step_time_s"].median == 0.2
    assert levels.keys() == {"step_time_s"}
    assert JobIdentity(script="a.log").world_size is None
