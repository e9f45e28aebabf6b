"""Panel: a widget that shows lines in roles and repaints only the cells that changed."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.css.styles import RenderStyles
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from hwtop.ui.widgets.line import Line, Span, change
from hwtop.ui.widgets.text import to_ascii

ROLES = (
    "text",
    "strong",
    "label",
    "dim",
    "title",
    "border",
    "border-hot",
    "track",
    "good",
    "faint-good",
    "info",
    "warn",
    "bad",
    "accent",
    "cursor",
    "key",
    "tab",
    "tab-key",
    "tab-on",
    "band-ok",
    "band-info",
    "band-warning",
    "band-critical",
    "band-unknown",
    "band-ended",
    "mix-1",
    "mix-2",
    "mix-3",
    "mix-4",
    "mix-5",
    "flame-user",
    "flame-library",
    "hit",
    "rank-0",
    "rank-1",
    "rank-2",
    "rank-3",
    "rank-4",
    "rank-5",
    "rank-6",
    "rank-7",
)
"""Every colour there is; `app.tcss` gives each one a style from the theme."""

LOOKS = {f"panel--{role}" for role in ROLES}
"""What the style sheet calls them."""

BACKED = frozenset(role for role in ROLES if role.startswith(("cursor", "tab", "band", "flame", "hit")))
"""Roles with a background of their own."""


class Panel(Widget):
    """Shows the lines it is given. Its place is set by `place`, so a change of lines never lays the screen out."""

    is_ascii = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.lines: list[Line] = []
        self._place: Region | None = None
        self._strips: dict[int, Strip] = {}
        """Row -> what was drawn of it, in `_drawn_width` cells."""
        self._drawn_width = 0
        self._styles: dict[str, Style] = {}
        """By role."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The looks of roles. They are the app's: working out all of them for each panel is most of what a start takes."""
        return self.app.get_component_styles(*names)

    def notify_style_update(self) -> None:
        """Draw anew: the theme may be another one."""
        super().notify_style_update()
        self._styles.clear()
        self.redraw()

    def redraw(self) -> None:
        """Draw all rows anew."""
        self._strips.clear()
        self.refresh()

    def place(self, region: Region | None) -> None:
        """Stand at `region` of the screen, or nowhere. Costs nothing when it is there already."""
        if region == self._place:
            return
        self._place = region
        self.display = region is not None
        if region is not None:
            self.styles.offset = (region.x, region.y)
            self.styles.width = region.width
            self.styles.height = region.height

    def show(self, lines: list[Line]) -> None:
        """Show `lines`, each as wide as the panel."""
        before, self.lines = self.lines, lines
        if len(before) != len(lines):
            self.redraw()
            return
        changed = []
        for y, (old, new) in enumerate(zip(before, lines, strict=True)):
            if (found := change(old, new)) is not None:
                self._strips.pop(y, None)
                changed.append(Region(found[0], y, found[1], 1))
        if changed:
            self.refresh(*changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """These cells of the panel. It has no border, padding or opacity, so nothing of the toolkit's box is worked out."""
        if self._drawn_width != self.size.width:
            self._strips.clear()
            self._drawn_width = self.size.width
        return [self._strip(y).crop(crop.x, crop.right) for y in crop.line_range]

    def render_line(self, y: int) -> Strip:
        """Row `y` of the panel."""
        width = self.size.width
        line = self.lines[y] if y < len(self.lines) else Line()
        segments = [
            Segment(to_ascii(text) if self.is_ascii else text, self._style(role))
            for text, role in _joined(line.fitted(width).spans)
        ]
        strip = Strip(segments, width)
        for each in self.get_line_filters():
            strip = strip.apply_filter(each, self.background_colors[1])
        return strip

    def _strip(self, y: int) -> Strip:
        if y not in self._strips:
            self._strips[y] = self.render_line(y)
        return self._strips[y]

    def _style(self, role: str) -> Style:
        if role not in self._styles:
            self._styles[role] = self.get_component_rich_style(f"panel--{role}")
        return self._styles[role]


def _joined(spans: list[Span]) -> list[Span]:
    """Blanks take the colour of what stands before them: each change of colour is some 40 bytes to the terminal."""
    joined: list[Span] = []
    for text, role in spans:
        if joined and (joined[-1][1] == role or (text.isspace() and not {role, joined[-1][1]} & BACKED)):
            joined[-1] = (joined[-1][0] + text, joined[-1][1])
        else:
            joined.append((text, role))
    return joined
