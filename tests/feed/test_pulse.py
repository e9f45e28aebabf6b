"""Silent logs make `hwtop wait` look at the job at once."""

from __future__ import annotations

from pathlib import Path

from hwtop.feed.pulse import Pulse
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
