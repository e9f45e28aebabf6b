"""gpu-thermal-throttle and gpu-hw-slowdown, at and around their thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuRates, ThrottleReason
from hwtop.seconds import clock
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.gpu.clocks import check_hw_slowdown, check_thermal
from hwtop.symptoms.history import History
from tests.parts import replace
from tests.symptoms.derived_states import derived, event, gpu, history, job, rank, seen_with_log
from tests.symptoms.test_judge import finding

WATCHED = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)))
HOT: dict[str, Any] = {"temp_c": 89.0, "mem_temp_c": 97.0, "sm_clock_mhz": 780.0}


def throttled(pattern: str, *reasons: ThrottleReason, watched: Any = WATCHED, **fields: Any) -> History:
    """One character a second for GPU 1: "x" where the reasons hold; GPU 0 is well."""

    def gpus(second: int) -> tuple[Gpu, ...]:
        held = pattern[second] == "x"
        return gpu(0), gpu(1, throttle=reasons if held else (), **(fields if held else {}))

    return history(len(pattern) - 1, lambda second: derived(float(second), watched, gpus=gpus(second)))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("." * 60, False),
        ("." * 59 + "x", False),
        ("." * 52 + "x" * 8, False),  # 13 %, which proves 8 %
        ("." * 48 + "x" * 12, True),  # 20 %, which proves 13 %
        ("xxx", True),
        ("x..x.", True),
        ("." * 600 + ("x" + "." * 50) * 5, False),  # 5 spells
        ("." * 600 + ("x" + "." * 50) * 6, True),
        ("x" * 60 + "." * 61, False),  # over
    ],
)
def test_heat_must_hold_clocks_down_for_a_proven_tenth_or_six_times(pattern: str, expected: bool) -> None:
    assert (check_thermal(throttled(pattern, "hw_slowdown", "hw_thermal", **HOT)) is not None) is expected


def test_heat_is_told_with_thresholds_and_the_cool_peers() -> None:
    seen = check_thermal(throttled("x" * 20, "hw_slowdown", "hw_thermal", "sw_thermal", **HOT))
    assert seen is not None
    assert seen.title == "GPU 1: thermal throttling, 89 °C, SM clock 780 of 1980 MHz"
    assert (seen.severity, seen.ranks) == ("warning", (1,))
    assert "GPU 1: 89 °C (hardware slows it from 87 °C), memory 97 °C, SM clock 780 of 1980 MHz" in seen.evidence
    assert "not throttled: GPU 0: 62 to 62 °C, SM clock 1740 MHz" in seen.evidence
    assert any("in 20 of 20 samples" in line for line in seen.evidence)


@pytest.mark.parametrize(
    ("pattern", "since"),
    [
        ("x" * 60, ", since {first} or before"),
        ("." * 40 + "x" * 60, ", since {fortieth}"),
        ("." * 40 + "xx.x" * 15, ""),
    ],
)
def test_since_when_is_told_of_one_that_never_let_go(pattern: str, since: str) -> None:
    watched = throttled(pattern, "hw_thermal", **HOT)
    seen = check_thermal(watched)
    assert seen is not None
    times = [clock(each.time_s) for each in watched.derived_states]
    told = next(line for line in seen.evidence if "samples" in line)
    assert told.partition(" samples")[2] == since.format(first=times[0], fortieth=times[min(40, len(times) - 1)])


def test_the_drivers_own_count_is_evidence() -> None:
    watched = throttled("x" * 20, "sw_thermal", **HOT)
    later = [
        derived(at_s, WATCHED, gpus=watched.now.gpus, gpu_rates=(GpuRates(index=1, thermal_violation_share=share),))
        for at_s, share in ((20.0, 1.0), (21.0, 0.8), (23.0, 0.8))  # read late, so too much and then too little
    ]
    seen = check_thermal(History([*watched.derived_states, *later]))
    assert seen is not None
    assert any("throttled by temperature 85 % of the last 4 s (driver counter)" in line for line in seen.evidence)


def test_a_gpu_of_somebody_else_is_a_word_only() -> None:
    seen = check_thermal(throttled("x" * 20, "hw_thermal", watched=job(rank(0, gpus=(0,)))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("info", ())
    assert "no rank of this job uses GPU 1" in seen.evidence
    unknown = check_thermal(throttled("x" * 20, "hw_thermal", watched=job(rank(0))))
    assert unknown is not None
    assert unknown.severity == "warning"


def test_the_log_is_a_witness_too() -> None:
    reported = job(rank(0), events=(event("gpu-thermal-throttle", severity="warning"),))
    cool, hot = (
        seen_with_log("gpu-thermal-throttle", throttled("....", watched=reported)),
        seen_with_log("gpu-thermal-throttle", throttled("x" * 20, "hw_thermal", watched=reported)),
    )
    assert cool is not None
    assert "GPU clocks throttled: thermal" in cool.title
    assert hot is not None
    assert hot.title.startswith("GPU 1: thermal throttling")
    assert any("a line about gpu-thermal-throttle" in line for line in hot.evidence)


@pytest.mark.parametrize(
    ("pattern", "reasons", "expected"),
    [
        ("x" * 20, ("hw_slowdown",), True),
        ("x" * 20, ("hw_slowdown", "hw_thermal"), False),  # that is heat
        ("x" * 20, ("hw_slowdown", "hw_power_brake"), True),
        ("x.x." * 15, ("hw_slowdown",), False),  # changes of the performance state
        ("xx." * 20, ("hw_slowdown",), True),
        ("." * 56 + "xx..", ("hw_slowdown",), False),
        ("." * 56 + "xx..", ("hw_power_brake",), False),
        ("." * 57 + "xxx", ("hw_power_brake",), True),
        ("x" * 20, ("hw_current",), True),
        ("x" * 20, ("sw_power_cap",), False),
        ("x" * 20, ("idle",), False),
    ],
)
def test_a_slowdown_by_the_hardware_is_not_a_flicker(
    pattern: str, reasons: tuple[ThrottleReason, ...], expected: bool
) -> None:
    assert (check_hw_slowdown(throttled(pattern, *reasons)) is not None) is expected


def test_a_hardware_slowdown_of_somebody_else_is_a_word_only() -> None:
    seen = check_hw_slowdown(throttled("x" * 20, "hw_slowdown", "hw_power_brake", watched=job(rank(0, gpus=(0,)))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("info", ())
    assert seen.evidence[0] == "no rank of this job uses GPU 1"


def test_the_power_brake_is_named() -> None:
    seen = check_hw_slowdown(throttled("x" * 20, "hw_slowdown", "hw_power_brake", power_w=350.0))
    assert seen is not None
    assert seen.title.startswith("GPU 1: throttled by the power brake")
    assert seen.severity == "warning"
    assert any("350 of 700 W" in line for line in seen.evidence)


def test_a_straggler_folds_under_the_heat_of_its_own_gpu() -> None:
    def folded(straggler: int, severity: str = "warning") -> list[str]:
        hot = replace(finding("gpu-thermal-throttle", severity), ranks=(1,))
        slow = replace(finding("straggler-rank", "warning"), ranks=(straggler,))
        return [each.symptom for each in fold([slow, hot])]

    assert folded(1) == ["gpu-thermal-throttle"]
    assert folded(0) == ["straggler-rank", "gpu-thermal-throttle"]
    assert folded(1, "info") == ["straggler-rank", "gpu-thermal-throttle"]
