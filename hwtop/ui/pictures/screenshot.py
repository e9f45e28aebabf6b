"""The screen without a terminal: as text or SVG."""

from __future__ import annotations

import asyncio
from functools import cache

from hwtop.model.plan import UserFocus
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.pictures.painted import paints
from hwtop.ui.pictures.svg import Paint, to_svg
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel
from hwtop.ui.widgets.text import to_ascii


def text(view: View, size: tuple[int, int], *, ascii: bool = False) -> str:  # noqa: A002
    """The screen of `size` (cells, rows) as plain text, one row a line."""
    rows = [line.text.rstrip() for line in picture(view, *size)]
    body = "\n".join(rows).rstrip() + "\n"
    return to_ascii(body) if ascii else body


def svg(view: View, size: tuple[int, int], *, theme: str = "hwtop") -> str:
    """The screen of `size` (cells, rows) as an SVG picture in the colours of `theme`. Must not run inside an event loop."""
    return drawing(picture(view, *size), f"hwtop: {view.frame.verdict.text}", theme=theme)


def drawing(lines: list[Line], title: str, *, theme: str = "hwtop") -> str:
    """Any lines as an SVG picture. Must not run inside an event loop."""
    paints_of = looks(theme)
    return to_svg(lines, paints_of, paints_of["text"].background, title)


class _NoFeed:
    def attach(self, pid: int | None) -> None: ...

    def look(self, user_focus: UserFocus) -> None: ...

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


def _no_feed(_: Publish) -> _NoFeed:
    return _NoFeed()


@cache
def looks(theme: str) -> dict[str, Paint]:
    """Role -> how it looks in this theme. Must not run inside an event loop."""
    return asyncio.run(_paints(theme))


async def _paints(theme: str) -> dict[str, Paint]:
    """Asked from an app without a terminal."""
    app = HwtopApp(_no_feed, options=ScreenOptions(theme=theme))
    async with app.run_test(size=(80, 24)):
        return paints(app.screen.query_one("#verdict", Panel))
