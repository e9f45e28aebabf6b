"""What is drawn without the toolkit looks as what the toolkit draws: cell by cell, in text and style."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Region
from textual.pilot import Pilot

from hwtop.ui.app import HwtopApp
from hwtop.ui.browser.sheet import Sheet
from hwtop.ui.options import ScreenOptions
from hwtop.ui.terminal.diff_writer import Cell, DiffWriter, Piece, on_blank, pieces
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import ROLES, Panel
from tests import crowds, frames
from tests.recording import replay
from tests.ui.test_app import FakeFeed, drive

TEXTS = ("loss", " ", "    ", "0.25", "█▊", "漢字", "rank 3", "↑")


class Canvas(HeadlessDriver):
    """Draws on a sheet and on a terminal that show all that the screen shows now."""

    def __init__(self, app: App[Any]) -> None:
        super().__init__(app)
        self.sheet = Sheet(*app.size)
        self.sheet.draw(by_toolkit(app))
        self.writer = DiffWriter()
        self.writer(by_toolkit(app))
        self.sent: list[str] = []

    def draw(self, drawn: list[Piece]) -> None:
        self.sheet.draw(drawn)
        self.sent.append(self.writer(drawn))


def by_toolkit(app: App[Any]) -> list[Piece]:
    """All panels, as strips."""
    drawn: list[Piece] = []
    for panel in app.screen.query(Panel):
        for y in range(panel.region.height if panel.display else 0):
            strip = panel.render_line(y).render(app.console)
            drawn += pieces(f"\x1b[{panel.region.y + y + 1};{panel.region.x + 1}H{strip}") or []
    return drawn


def whole(sheet: Sheet) -> list[list[Cell]]:
    """All of its cells; a blank has only the part of its style that is visible."""
    return [[(text, on_blank(style) if text == " " else style) for text, style in row] for row in sheet._rows]


def lines(dice: random.Random) -> list[Line]:
    rows = []
    for _ in range(dice.randint(1, 6)):
        row = Line()
        for _ in range(dice.randint(0, 8)):
            row.add(dice.choice(TEXTS), dice.choice(ROLES))
        rows.append(row)
    return rows


@pytest.mark.parametrize("is_ascii", [False, True])
def test_spans_that_differ_make_the_picture_that_the_toolkit_draws(is_ascii: bool) -> None:
    dice = random.Random(5)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        panel = app.screen.query_one("#verdict", Panel)
        for other in app.screen.query(Panel):
            other.place(Region(7, 2, 30, 5) if other is panel else None)
        panel.show(lines(dice))
        await pilot.pause()
        canvas = Canvas(app)
        for _ in range(200):
            changed: list[Piece] = []
            panel.show(lines(dice), changed)
            canvas.draw(changed)
            assert whole(canvas.sheet) == whole(Canvas(app).sheet)

    drive(act, frames.healthy(), options=ScreenOptions(is_ascii=is_ascii))


def test_the_next_frame_is_drawn_without_the_toolkit() -> None:
    before, after = replay("healthy")[-2:]

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert feed.publish is not None
        headless, app._driver = app._driver, (canvas := Canvas(app))
        feed.publish(after)
        await pilot.pause()
        app._driver = headless
        assert len(canvas.sent) == 1
        assert whole(canvas.sheet) == whole(Canvas(app).sheet)

    drive(act, before, size=(160, 50))


@pytest.mark.parametrize("key", ["question_mark", "colon"])
def test_under_a_dialog_only_the_toolkit_draws(key: str) -> None:
    before, after = replay("healthy")[-2:]

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert feed.publish is not None
        await pilot.press(key)
        headless, app._driver = app._driver, (canvas := Canvas(app))
        feed.publish(after)
        await pilot.pause()
        app._driver = headless
        assert canvas.sent == []

    drive(act, before, size=(160, 50))


def test_a_moved_selection_sends_few_cells() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("2", "right")
        headless, app._driver = app._driver, (canvas := Canvas(app))
        await pilot.press("right")
        app._driver = headless
        drawn = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", "".join(canvas.sent))
        assert 0 < len(drawn) < 200

    drive(act, crowds.sick(512), size=(200, 60))
