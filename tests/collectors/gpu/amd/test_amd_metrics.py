"""Tables of gpu_metrics, laid out by ctypes from the kernel's structures."""

from __future__ import annotations

import pytest

from hwtop.collectors.gpu.amd.metrics import decode, throttle_reasons
from hwtop.model.gpu.device import ThrottleReason
from tests.collectors.amd_tables import REVISIONS, table

RESIDENCIES = {
    "accumulation_counter": 900001,
    "prochot_residency_acc": 11,
    "ppt_residency_acc": 12,
    "socket_thm_residency_acc": 13,
    "vr_thm_residency_acc": 14,
    "hbm_thm_residency_acc": 15,
}


@pytest.mark.parametrize("revision", [(1, 1), (1, 2), (1, 3)])
def test_boards_before_mi300(revision: tuple[int, int]) -> None:
    metrics = decode(table(revision, energy_accumulator=123456789012, current_gfxclk=1700))
    assert (metrics.energy, metrics.clock_mhz, metrics.samples, metrics.throttle_bits) == (
        123456789012,
        1700,
        None,
        None,
    )


def test_limits_that_hold_now() -> None:
    assert decode(table((1, 3), indep_throttle_status=1 << 34)).throttle_bits == 1 << 34
    assert decode(table((2, 2), indep_throttle_status=3, current_gfxclk=2700))[1:3] == (3, None)


@pytest.mark.parametrize("revision", [(1, 4), (1, 5), (1, 6), (1, 7), (1, 8)])
def test_mi300_and_later(revision: tuple[int, int]) -> None:
    values: dict[str, int | list[int]] = {
        "energy_accumulator": 77 << 40,
        "xgmi_link_width": 16,
        "xgmi_link_speed": 32,
        "current_gfxclk": [2100, 2099],
        "xgmi_read_data_acc": [1, 2, 3, 4, 5, 6, 7],
        "xgmi_write_data_acc": [10, 20, 30, 40, 50, 60, 70],
    }
    has_residencies = revision >= (1, 6)
    if revision >= (1, 7):
        values["xgmi_link_status"] = [1, 1, 0, 1, 1, 1, 1]
    metrics = decode(table(revision, **values, **(RESIDENCIES if has_residencies else {})))
    assert (metrics.energy, metrics.xgmi_width, metrics.xgmi_gbit_per_s, metrics.clock_mhz) == (77 << 40, 16, 32, 2100)
    assert metrics.xgmi_read_kb == (1, 2, 3, 4, 5, 6, 7), "the eighth link is not there"
    assert metrics.xgmi_written_kb == (10, 20, 30, 40, 50, 60, 70)
    assert metrics.xgmi_status == ((1, 1, 0, 1, 1, 1, 1, 0xFFFF) if revision >= (1, 7) else ())
    reported = (metrics.samples, metrics.prochot, metrics.power, metrics.socket_heat, metrics.regulator_heat)
    assert (*reported, metrics.memory_heat) == ((900001, 11, 12, 13, 14, 15) if has_residencies else (None,) * 6)


@pytest.mark.parametrize("revision", REVISIONS)
def test_table_that_tells_nothing(revision: tuple[int, int]) -> None:
    metrics = decode(table(revision))
    assert metrics.revision == revision
    assert not any(metrics[1:-1])
    assert set(metrics.xgmi_status) <= {0xFFFF}


@pytest.mark.parametrize("revision", REVISIONS)
def test_table_that_is_cut_short(revision: tuple[int, int]) -> None:
    whole = table(revision)
    for length in (0, 3, 4, len(whole) - 1):
        with pytest.raises(ValueError, match="gpu_metrics"):
            decode(whole[:length])
    with pytest.raises(ValueError, match="expected"):
        decode((len(whole) - 8).to_bytes(2, "little") + whole[2:])


@pytest.mark.parametrize(
    ("bits", "reasons"),
    [
        (0, ()),
        (1 << 3, ("sw_power_cap",)),
        (1 << 16 | 1 << 23, ("hw_current",)),
        (1 << 36 | 1 << 44, ("hw_thermal",)),
        (1 << 47 | 1 << 5, ("sw_power_cap", "hw_slowdown")),
        (1 << 57, ()),
    ],
)
def test_bits_in_words(bits: int, reasons: tuple[ThrottleReason, ...]) -> None:
    assert throttle_reasons(bits) == reasons
