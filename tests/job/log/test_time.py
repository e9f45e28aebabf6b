from __future__ import annotations

import pytest

from hwtop.job.log.time import reported_s

NOON = reported_s("2026-11-21 12:00:00 start")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21 12:00:00,250 INFO train: step 3",
        "[2026-11-21T12:00:00.250Z] step 3",
        "[rank3]:[W1121 12:00:00.250123456 ProcessGroupNCCL.cpp:1] Watchdog",
        "[11/21 12:00:00.250 trainer]: step 3".replace("0.250 trainer", "0.250"),
        "11-21 12:00:00.250 | INFO | step 3",
        "2026/11/21 12:00:00.250 step 3",
    ],
)
def test_times_of_all_forms_can_be_compared(text: str) -> None:
    reported = reported_s(text)
    assert reported is not None
    assert NOON is not None
    assert reported - NOON == pytest.approx(0.25, abs=0.001)


@pytest.mark.parametrize(
    "text", ["", "iter 12: loss 2.1", "step 3 12:00:00", "ratio 10:20", "2026-13-41 12:00:00", "x" * 500]
)
def test_no_time_is_none(text: str) -> None:
    assert reported_s(text) is None


def test_the_later_line_has_the_later_time() -> None:
    lines = ["2026-02-28 23:59:59", "2026-03-01 00:00:00", "2026-03-01 00:00:01,001", "2026-12-31 10:00:00"]
    times = [reported_s(line) for line in lines]
    assert times == sorted(times, key=lambda time: time or 0)
    assert len(set(times)) == 4
