"""Rates from counters that drivers answer seldom, reset and misread."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

from hwtop.derive.host.gpu import HOLD_S, GpuRater
from hwtop.model.gpu.device import Gpu, GpuCounters, GpuRates, GpuReading


def gpu(index: int = 0, age_s: float = 0.0, **counters: Any) -> Gpu:
    return Gpu(
        index=index,
        vendor="nvidia",
        name="H100",
        uuid=f"GPU-{index}",
        status="stale" if age_s else "ok",
        age_s=age_s,
        counters=GpuCounters(**counters),
    )


def rates(*readings: tuple[float, Gpu]) -> list[GpuRates]:
    rater = GpuRater()
    return [rater.advance(GpuReading(at_s=at_s, gpus=(each,)))[0] for at_s, each in readings]


def series(field: str, values: Sequence[int | None], rate: str) -> list[Any]:
    """One reading a second."""
    counters: list[dict[str, Any]] = [{field: value} for value in values]
    reported = rates(*((float(second), gpu(**each)) for second, each in enumerate(counters)))
    return [getattr(each, rate) for each in reported]


def test_power_is_energy_over_time() -> None:
    assert series("energy_mj", [1_000_000, 1_650_000, 2_350_000], "power_w") == [None, 650.0, 700.0]


def test_a_counter_that_is_read_seldom_keeps_its_rate_between() -> None:
    reported = series("energy_mj", [0, 0, 0, 1_500_000, 1_500_000, 1_500_000, 4_500_000], "power_w")
    assert reported == [None, None, None, 500.0, 500.0, 500.0, 1000.0]


def test_a_counter_that_stands_still_has_the_rate_zero() -> None:
    still = ceil(HOLD_S)
    reported = series("nvlink_tx_bytes", [0, 100] + [100] * still, "nvlink_tx_bytes_per_s")
    assert reported[1] == 100.0
    assert (reported[still], reported[-1]) == (100.0, 0.0)


@pytest.mark.parametrize(
    ("field", "rate", "values"),
    [
        ("energy_mj", "power_w", (5_000_000, 10_000)),  # the driver was loaded again
        ("energy_mj", "power_w", (5_000_000, 90_000_000)),  # 85 kW
        ("energy_mj", "power_w", (5_000_000, None)),
        ("thermal_violation_ns", "thermal_violation_share", (0, 2 * 10**9)),  # 2 s in 1 s
        ("nvlink_rx_bytes", "nvlink_rx_bytes_per_s", (0, 5 * 10**12)),
        ("pcie_replays", "pcie_replays_per_s", (7, 2**32 + 7)),
    ],
)
def test_what_a_counter_cannot_have_counted_is_no_rate(field: str, rate: str, values: Sequence[int | None]) -> None:
    assert series(field, values, rate) == [None, None]


def test_a_share_of_time_is_never_above_the_whole() -> None:
    reported = series("power_violation_ns", [0, 600_000_000, 1_650_000_000], "power_violation_share")
    assert reported == [None, pytest.approx(0.6), 1.0]


def test_after_a_jump_it_goes_on() -> None:
    assert series("energy_mj", [500, 10, 600_010], "power_w") == [None, None, 600.0]


def test_a_row_that_is_stale_keeps_its_rates() -> None:
    reported = rates(
        (0.0, gpu(energy_mj=0)),
        (1.0, gpu(energy_mj=500_000)),
        (2.0, gpu(energy_mj=500_000, age_s=1.0)),
        (60.0, gpu(energy_mj=500_000, age_s=59.0)),
    )
    assert [each.power_w for each in reported] == [None, 500.0, 500.0, 500.0]


def test_a_repeated_reading_and_a_new_gpu() -> None:
    rater = GpuRater()
    assert rater.advance(None) == ()
    rater.advance(GpuReading(at_s=0.0, gpus=(gpu(pcie_replays=3),)))
    now = GpuReading(at_s=2.0, gpus=(gpu(pcie_replays=7), gpu(1, pcie_replays=100)))
    assert [each.pcie_replays_per_s for each in rater.advance(now)] == [2.0, None]
    assert rater.advance(now) == rater.advance(None)
    assert [each.index for each in rater.advance(now)] == [0, 1]
