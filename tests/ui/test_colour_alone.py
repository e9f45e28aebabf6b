"""What is selected, tagged, meant, held or gone is told by a glyph or a word, too; and all of it in the roles of the themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs
from msgspec.structs import replace

from hwtop.config import Config
from hwtop.model.frame import Frame
from hwtop.ui import help_lines, palette
from hwtop.ui.pages import settings as settings_page
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import ROLES
from hwtop.ui.widgets.text import to_ascii
from tests import crowds, frames

SIZES = [(80, 24), (160, 50)]
HANG, HEALTHY = frames.hang(), frames.healthy()


def held() -> View:
    """The picture before the last, with a finding since."""
    view = View(frame=HEALTHY)
    for number, frame in enumerate((HEALTHY, HANG, HANG)):
        view = time_moves.arrived(view, structs.replace(frame, number=number + 1))
    return time_moves.stepped(view, -1)


def pairs() -> Iterator[tuple[str, View, View]]:
    """(what differs, two views that differ in nothing else)"""
    for page in PAGES:
        here = View(frame=HANG, page=page)
        yield f"rank on {page}", here, replace(here, selected=3)
        yield f"rank after rank on {page}", replace(here, selected=2), replace(here, selected=3)
    processes = View(frame=HANG, page="processes")
    assert processes.job is not None
    one, other = processes.job.processes[2:4]
    yield "process", processes, processes.with_state(ProcessesState(pid=other.pid))
    yield "tag", processes, replace(processes, tagged=frozenset({(one.pid, one.start_ticks)}))
    crowd = View(frame=crowds.sick(64), page="ranks")  # with more a rank has a single cell, and is named beside the map
    yield "rank on the map", replace(crowd, selected=2), replace(crowd, selected=3)
    overview = View(frame=HANG)
    yield "panel", replace(overview, panel="gpu"), replace(overview, panel="ranks")
    yield "hidden panel", overview, replace(overview, hidden=frozenset({"gpu"}))
    gpus = View(frame=HANG, page="gpu")
    yield "gpu", gpus.with_state(GpuState(1)), gpus.with_state(GpuState(2))
    yield "paused", time_moves.live(held()), held()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_row_whose_colours_change_changes_its_text_as_well(size: tuple[int, int]) -> None:
    for what, one, other in pairs():
        assert_told(what, picture(one, *size), picture(other, *size))


def test_the_cursor_of_a_dialog_is_a_glyph_as_well() -> None:
    entries = palette.found(palette.entries(View(frame=HANG), ()), "")
    found = [palette.draw(entries, cursor, "", (80, 24))[0] for cursor in (0, 1)]
    assert_told("palette", found[0], found[1])
    settings = SettingsView(Config(), Config())
    shown = [settings_page.draw(replace(settings, cursor=cursor), "file", 80, 24) for cursor in (0, 1)]
    assert_told("settings", shown[0], shown[1])


def assert_told(what: str, one: list[Line], other: list[Line]) -> None:
    for before, after in zip(one, other, strict=True):
        if roles(before) != roles(after):
            assert to_ascii(before.text) != to_ascii(after.text), (what, after.text)


def roles(line: Line) -> list[str]:
    """Of each character."""
    return [role for text, role in line.spans for _ in text]


@pytest.mark.parametrize("frame", [HANG, frames.picker(), crowds.sick(512)], ids=["hang", "picker", "crowd"])
def test_every_role_is_one_of_the_themes(frame: Frame) -> None:
    view = View(frame=frame)
    drawn = [picture(replace(view, page=page), *size) for page in PAGES for size in SIZES]
    drawn.append(palette.draw(palette.found(palette.entries(view, ()), "a"), 0, "a", (80, 24))[0])
    drawn.append(settings_page.draw(SettingsView(Config(), Config()), "file", 80, 24))
    drawn.append(help_lines.draw(view, (80, 24)).lines)
    drawn.append(picture(held(), 80, 24))
    assert {role for lines in drawn for line in lines for _, role in line.spans} <= set(ROLES)
