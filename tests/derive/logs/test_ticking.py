"""Lines that come at their own pace show activity, and no progress."""

from __future__ import annotations

import pytest

from hwtop.derive.logs.ticking import TickingLines


def shown(*lines: str) -> list[bool]:
    """Of each line that is no step: whether it shows progress."""
    ticking, found = TickingLines(), []
    for line in lines:
        if line.startswith("step"):
            ticking.step()
        else:
            found.append(not ticking.ticks(line))
    return found


TRAINING = ("uptime 5s", "step 1", "step 2", "uptime 10s", "step 3", "uptime 15s", "step 4", "uptime 20s", "step 5")


def test_a_clock_that_goes_on_without_steps_shows_nothing() -> None:
    assert shown(*TRAINING, "uptime 25s", "uptime 30s", "uptime 35s")[4:] == [True, False, False]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("eval batch 10", "eval batch 20", "eval batch 30"), "a form that never stood between steps"),
        (("uptime 25s", "Saved checkpoint-5", "evaluating"), "each is another line"),
    ],
)
def test_other_lines_show_progress(lines: tuple[str, ...], why: str) -> None:
    assert all(shown(*TRAINING, *lines)), why


def test_after_a_pause_in_which_the_clock_went_on_it_is_believed() -> None:
    paused = (*TRAINING, "uptime 25s", "uptime 30s", "step 6", "uptime 35s", "step 7", "uptime 40s", "uptime 45s")
    assert shown(*paused)[5:] == [False, True, True, True]


def test_few_lines_say_nothing_of_their_pace() -> None:
    assert all(shown("step 1", "uptime 5s", "step 2", "uptime 10s", "uptime 15s", "uptime 20s"))
