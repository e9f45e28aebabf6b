"""The screen without a terminal: as text, SVG or PNG."""

from __future__ import annotations

import asyncio
from functools import cache
from importlib import resources

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from hwtop.model.plan import UserFocus
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.pictures.svg import Paint, to_svg
from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.sixteen_colours import VGA
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import ROLES, Panel
from hwtop.ui.widgets.text import to_ascii

_DIM = 0.6
"""What terminals leave of a dim colour, more or less."""
_ZOOM = 1.5
"""Pixels of the PNG a unit of the SVG: letters stay sharp on dense displays."""


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
    looks = _looks(theme)
    return to_svg(lines, looks, looks["text"].background, title)


def png(svg_text: str) -> bytes:
    """`svg_text` as PNG."""
    import resvg_py

    with resources.as_file(resources.files("hwtop.ui") / "fonts") as folder:
        rendered = resvg_py.svg_to_bytes(
            svg_string=svg_text,
            zoom=_ZOOM,
            font_dirs=[str(folder)],
            font_family="DejaVu Sans Mono",
            monospace_family="DejaVu Sans Mono",
        )
    return bytes(rendered)


class _NoFeed:
    def attach(self, pid: int) -> None: ...

    def look(self, user_focus: UserFocus) -> None: ...

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


def _no_feed(_: Publish) -> _NoFeed:
    return _NoFeed()


@cache
def _looks(theme: str) -> dict[str, Paint]:
    return asyncio.run(_paints(theme))


async def _paints(theme: str) -> dict[str, Paint]:
    """Asked from an app without a terminal."""
    app = HwtopApp(_no_feed, options=ScreenOptions(theme=theme))
    async with app.run_test(size=(80, 24)):
        return paints(app.screen.query_one("#verdict", Panel))


def paints(panel: Panel, palette: TerminalTheme = VGA) -> dict[str, Paint]:
    """What the style sheet makes of each role of `panel`; `palette` is what a terminal's own colours look like."""
    return {role: _paint(panel.get_component_rich_style(f"panel--{role}"), palette) for role in ROLES}


def _paint(style: Style, palette: TerminalTheme) -> Paint:
    color = (style.color or Color.default()).get_truecolor(palette).hex
    background = (style.bgcolor or Color.default()).get_truecolor(palette, foreground=False).hex
    if style.reverse:
        color, background = background, color
    return Paint(blend(color, background, _DIM) if style.dim else color, background, bool(style.bold))
