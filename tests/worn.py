"""The screen as the app draws it in each theme: rows of text, under each the styles of its cells, and what the styles are."""

from __future__ import annotations

import string
from collections.abc import Iterator

from rich.style import Style
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.ui import themes
from hwtop.ui.app import HwtopApp
from hwtop.ui.widgets.panel import ROLES, Panel
from hwtop.ui.widgets.text import cells
from tests.ui.test_app import FakeFeed, drive

_LETTERS = dict(zip(ROLES, "." + string.ascii_letters, strict=False))
"""Role -> the letter that stands under its cells."""

Cell = tuple[str, str]
"""A character and the letters under it."""


def themed(frame: Frame, size: tuple[int, int]) -> dict[str, str]:
    """Own theme -> the screen in it."""
    found: dict[str, str] = {}

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for name in themes.OWN:
            app.apply_theme(name)
            await pilot.pause()
            found[name] = "".join([*_rows(app), *_legend(app)])

    drive(act, frame, size=size)
    return found


def roles(app: HwtopApp) -> dict[Style, str]:
    """Style -> the first role that has it. What is drawn in another style has a colour that is not of the theme."""
    look = next(iter(app.screen.query(Panel))).get_component_rich_style
    return {look(f"panel--{role}"): role for role in reversed(ROLES)}


def segments(app: HwtopApp) -> Iterator[tuple[Panel, int, str, Style]]:
    """(panel, row of the screen, text, style) of all that the screen on top shows, panel by panel from the left."""
    panels = [panel for panel in app.screen.query(Panel) if panel.display]
    for panel in sorted(panels, key=lambda panel: panel.region.x):
        for y in range(panel.size.height):
            for segment in panel.render_line(y):
                yield panel, panel.region.y + y, segment.text, segment.style or Style.null()


def _rows(app: HwtopApp) -> Iterator[str]:
    known = roles(app)
    rows: list[list[Cell]] = [[] for _ in range(app.size.height)]
    for _, y, text, style in segments(app):
        letter = _LETTERS[known[style]]
        is_ground = style.bgcolor != app.screen.rich_style.bgcolor
        rows[y] += [(each, (letter if is_ground or not each.isspace() else " ") * cells(each)) for each in text]
    for row in rows:
        for part in zip(*row, strict=True):
            yield "".join(part).rstrip() + "\n"


def _legend(app: HwtopApp) -> Iterator[str]:
    look = next(iter(app.screen.query(Panel))).get_component_rich_style
    for role, letter in _LETTERS.items():
        yield f"{letter}  {role:14} {_words(look(f'panel--{role}'))}\n"


def _words(style: Style) -> str:
    kinds = ("bold", "dim", "underline", "reverse")
    color, ground = (part.name if part else "default" for part in (style.color, style.bgcolor))
    return " ".join([color, "on", ground, *(kind for kind in kinds if getattr(style, kind))])
