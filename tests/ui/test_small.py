"""Terminals too small for panels: a compact text; and any size at all without an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hwtop.model.frame import Frame
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.view import View
from tests import crowds, frames

SIZES = [(59, 14), (200, 14), (20, 5), (20, 2), (2, 1), (1, 1), (300, 80)]
FRAMES: dict[str, Callable[[], Frame]] = {
    "healthy": frames.healthy,
    "hang": frames.hang,
    "crowd": lambda: crowds.sick(512),
    "picker": frames.picker,
}


def text(view: View, *size: int) -> str:
    return "\n".join(line.text for line in picture(view, *size))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", FRAMES)
def test_any_size_is_filled_exactly_on_every_page(name: str, size: tuple[int, int]) -> None:
    frame = FRAMES[name]()
    for page in PAGES:
        for word in ("", "rank=0-3 " * 9 + "cpuu=3"):
            view = View(
                frame=frame, page=page, filters={page: word}, typing=page if word else "", note="" if word else "noted"
            )
            assert [line.width for line in picture(view, *size)] == [size[0]] * size[1]


@pytest.mark.parametrize("size", [(59, 14), (40, 10)], ids=str)
def test_verdict_findings_ranks_devices_host_and_keys(size: tuple[int, int]) -> None:
    shown = text(View(frame=frames.hang()), *size)
    lines = shown.splitlines()
    assert lines[0].startswith("✖ CRITICAL the job hangs since 50 s")
    assert sum(line.startswith("✖ ") for line in lines) == 3, "the verdict, and a line for each of two findings"
    assert "8 ranks  ■ 8 stuck  step 12,428" in shown
    assert "GPU 5 at 2%" in shown
    assert "cpu 10%  wait 0%  mem 31%" in shown
    assert "■ 5 stuck  12,428" in shown
    assert lines[-1].startswith("q quit  ? help  panels from 60x15 on")


def test_many_ranks_are_counted_and_the_selected_one_is_in_sight() -> None:
    shown = text(View(frame=crowds.sick(512), selected=500), 59, 14)
    assert "512 ranks  ✖ 1 dead  ■ 1 stuck  ▲ 1 slow  ▼ 1 data-wait" in shown
    assert "○ 500 collective-wait" in shown


def test_findings_without_room_are_counted() -> None:
    frame: Frame = frames.hang()
    assert "2 more" in text(View(frame=frame), 20, 5)


def test_what_is_typed_and_said_is_seen() -> None:
    view = View(frame=frames.healthy(), page="ranks", typing="ranks", filters={"ranks": "cpuu=3"})
    last = text(view, 40, 5).splitlines()[-1]
    assert "/ cpuu=3" in last
    assert "no field cpuu" in last
    assert "looking every 2 s" in text(View(frame=frames.healthy(), note="looking every 2 s"), 40, 5)
    assert "PAUSED" in text(View(frame=frames.healthy(), is_paused=True), 20, 5)
