"""The last minutes of one GPU."""

from __future__ import annotations

from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.view import View
from tests import screens


def drawn(index: int) -> str:
    view = View(frame=screens.last("gpu-errors"), page="gpu").with_state(GpuState(index))
    return "\n".join(line.text for line in picture(view, 160, 50))


def test_a_throttled_gpu_says_since_when_and_how_much_of_the_time() -> None:
    with screens.in_utc():
        shown = drawn(2)
    assert "throttled 55 % of the last 55 s, now since 22:25:23" in shown
    assert "clock 990–1980 MHz" in shown


def test_a_small_screen_says_since_when_among_the_problems() -> None:
    view = View(frame=screens.last("gpu-errors"), page="gpu").with_state(GpuState(2))
    with screens.in_utc():
        shown = " ".join(line.text for line in picture(view, 80, 24))
    assert "▲ power cap: throttled 55 % of the" in shown
    assert "now since 22:25:23" in shown


def test_one_that_was_never_throttled_says_nothing_of_it() -> None:
    assert "throttled" not in drawn(0)
