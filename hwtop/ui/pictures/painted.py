"""Pictures in the colours of the style sheet: lines as SVG, SVG as PNG."""

from __future__ import annotations

from importlib import resources

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from hwtop.ui.pictures.svg import Paint
from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.sixteen_colours import VGA
from hwtop.ui.widgets.panel import ROLES, Panel

_DIM = 0.6
"""What terminals leave of a dim colour, more or less."""
_ZOOM = 1.5
"""Pixels of the PNG a unit of the SVG: letters stay sharp on dense displays."""


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


def paints(panel: Panel, palette: TerminalTheme = VGA) -> dict[str, Paint]:
    """What the style sheet makes of each role of `panel`; `palette` is what a terminal's own colours look like."""
    return {role: _paint(panel.get_component_rich_style(f"panel--{role}"), palette) for role in ROLES}


def _paint(style: Style, palette: TerminalTheme) -> Paint:
    color = (style.color or Color.default()).get_truecolor(palette).hex
    background = (style.bgcolor or Color.default()).get_truecolor(palette, foreground=False).hex
    if style.reverse:
        color, background = background, color
    return Paint(blend(color, background, _DIM) if style.dim else color, background, bool(style.bold))
