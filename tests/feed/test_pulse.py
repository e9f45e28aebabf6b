"""Silent logs make `hwtop wait` look at the job at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.feed.pulse import Growth, Pulse
from hwtop.feed.vigil import Attention
from tests.feed.test_vigil import at


class Clock:
    """Set by the test."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_log_that_stops_to_grow_is_noticed_once(tmp_path: Path) -> None:
    log, clock, hurried = tmp_path / "train.log", Clock(), list[float]()
    pulse = Pulse(lambda: hurried.append(clock.now_s), clock)
    log.write_text("step 1\n")
    pulse.watch([str(log)], 3.0)
    for second in range(20):
        clock.now_s = float(second)
        if second < 10:
            log.write_text("step\n" * (second + 2))
        pulse.look()
    assert hurried == [13.0]
    log.write_text("step 12\n")
    for second in range(20, 30):
        clock.now_s = float(second)
        pulse.look()
    assert hurried == [13.0, 24.0], "again after it went on"


@pytest.mark.parametrize(
    ("after", "is_slow"),
    [([400] * 6, False), ([300] * 6, False), ([100] * 6, True)],
    ids=["as fast", "somewhat slower", "four times slower"],
)
def test_logs_that_grow_far_slower_are_unusual(after: list[int], is_slow: bool) -> None:
    growth, size, found = Growth(), 0, list[bool]()
    for second, added in enumerate([*[400] * 60, *after]):
        size += added
        found.append(growth.is_slow(float(second), size))
    assert (any(found), any(found[:60])) == (is_slow, False)


def test_logs_in_blocks_and_logs_that_are_cut_are_not_slow() -> None:
    growth = Growth()
    sizes = [second // 20 * 8192 for second in range(300)] + [second * 10 for second in range(60)]
    assert not any(growth.is_slow(float(second), size) for second, size in enumerate(sizes))


def test_without_files_or_a_rhythm_nothing_is_looked_at(tmp_path: Path) -> None:
    clock, hurried = Clock(), list[float]()
    pulse = Pulse(lambda: hurried.append(clock.now_s), clock)
    for paths, patience_s in (([], 3.0), ([str(tmp_path / "train.log")], None)):
        pulse.watch(paths, patience_s)
        for second in range(20):
            clock.now_s += second
            pulse.look()
    assert hurried == []


def test_silence_as_long_as_one_before_is_waited_for() -> None:
    attention = Attention()
    attention.pace(at(100.0))
    assert attention.patience_s(at(100.0)) == 1.5
    attention.pace(at(130.0, silent_s=25.0))
    attention.pace(at(140.0))
    assert attention.patience_s(at(140.0)) == 25.0
