"""Panel: a widget that shows lines in roles and repaints only the cells that changed."""

from __future__ import annotations

from rich.segment import Segment
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

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The looks of roles. They are the app's: working out all of them for each panel is most of what a start takes."""
        return self.app.get_component_styles(*names)

    def notify_style_update(self) -> None:
        """Draw anew: the theme may be another one."""
        super().notify_style_update()
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
            self.refresh()
            return
        changed = [
            Region(found[0], y, found[1], 1)
            for y, (old, new) in enumerate(zip(before, lines, strict=True))
            if old.spans != new.spans and (found := change(old, new))
        ]
        if changed:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """Row `y` of the panel."""
        width = self.size.width
        style = self.get_component_rich_style
        if y >= len(self.lines):
            return Strip([Segment(" " * width, style("panel--text"))], width)
        spans = _joined(self.lines[y].fitted(width).spans)
        return Strip(
            [Segment(to_ascii(text) if self.is_ascii else text, style(f"panel--{role}")) for text, role in spans],
            width,
        )


def _joined(spans: list[Span]) -> list[Span]:
    """Blanks take the colour of what stands before them: each change of colour is some 40 bytes to the terminal."""
    joined: list[Span] = []
    for text, role in spans:
        if joined and (joined[-1][1] == role or (text.isspace() and not {role, joined[-1][1]} & BACKED)):
            joined[-1] = (joined[-1][0] + text, joined[-1][1])
        else:
            joined.append((text, role))
    return joined
