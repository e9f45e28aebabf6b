"""What panels work out of a view is worked out once, and nobody changes what they share."""

from __future__ import annotations

import pytest

from hwtop.ui.once import once
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES
from hwtop.ui.panels.host import cpu
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from tests import frames


def test_the_same_view_is_asked_once_and_another_one_anew() -> None:
    asked: list[int] = []

    @once
    def work(view: View, room: int) -> int:
        asked.append(room)
        return room

    first, second = View(frame=frames.healthy()), View(frame=frames.healthy())
    assert [work(first, 1), work(first, 1), work(first, 2), work(second, 1)] == [1, 1, 2, 1]
    assert asked == [1, 2, 1]


def test_the_newest_results_are_kept_and_no_more() -> None:
    asked: list[int] = []

    @once
    def work(view: View, room: int) -> int:
        asked.append(room)
        return room

    view = View(frame=frames.healthy())
    for room in (*range(20), 0, 19):
        assert work(view, room) == room
    assert asked == [*range(20), 0]


def test_a_panel_that_is_measured_and_drawn_works_out_its_facts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(frame=frames.healthy())
    asked: list[View] = []
    plain = cpu._cores

    def cores(view: View, room: int) -> list[Line]:
        asked.append(view)
        return plain(view, room)

    monkeypatch.setattr(cpu, "_cores", cores)
    for _ in range(2):
        cpu.wanted(view, 60)
        cpu.least(view, 60)
        cpu.draw(view, 60, 20)
    assert len(asked) == 1


@pytest.mark.parametrize("page", NAMES)
@pytest.mark.parametrize("frame", [frames.healthy, frames.hang], ids=["healthy", "hang"])
def test_a_view_that_is_drawn_again_is_drawn_the_same(page: str, frame: object) -> None:
    assert callable(frame)
    view = View(frame=frame(), page=page)
    for size in ((80, 24), (160, 50)):
        first: list[Line] = [Line().extend(line) for line in picture(view, *size)]
        assert picture(view, *size) == first
