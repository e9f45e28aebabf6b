"""Panel: a widget that shows lines in roles and repaints only the cells that changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from rich.segment import Segment
from rich.style import Style
from textual.css.styles import RenderStyles
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from hwtop.ui.terminal.diff_writer import Piece
from hwtop.ui.terminal.diff_writer import Style as TerminalStyle
from hwtop.ui.terminal.diff_writer import pieces as pieces_of
from hwtop.ui.widgets.line import Line, Span
from hwtop.ui.widgets.text import cells, to_ascii

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
        self._terminal_styles: dict[str, TerminalStyle] = {}

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The looks of roles. They are the app's: working out all of them for each panel is most of what a start takes."""
        return self.app.get_component_styles(*names)

    def notify_style_update(self) -> None:
        """Draw anew: the theme may be another one."""
        super().notify_style_update()
        self._styles.clear()
        self._terminal_styles.clear()
        self.redraw()

    def redraw(self) -> None:
        """Draw all rows anew."""
        self._strips.clear()
        self.refresh()

    def place(self, region: Region | None) -> bool:
        """Stand at `region` of the screen, or nowhere; whether it stood elsewhere. Costs nothing when it is there already."""
        if region == self._place:
            return False
        self._place = region
        self.display = region is not None
        if region is not None:
            self.styles.offset = (region.x, region.y)
            self.styles.width = region.width
            self.styles.height = region.height
        return True

    def show(self, lines: list[Line], pieces: list[Piece] | None = None) -> None:
        """Show `lines`, each as wide as the panel. With `pieces` the spans that differ are added there, for whoever draws them;
        without, the toolkit is asked to draw their rows."""
        before, self.lines = self.lines, lines
        changed = [y for y, (old, new) in enumerate(zip_longest(before, lines)) if old != new]
        for y in changed:
            self._strips.pop(y, None)
            if pieces is not None:
                pieces += self._pieces(y, _row(before, y), _row(lines, y))
        if changed and pieces is None:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def render_lines(self, crop: Region) -> list[Strip]:
        """These cells of the panel. It has no border, padding or opacity, so nothing of the toolkit's box is worked out."""
        if self._drawn_width != self.size.width:
            self._strips.clear()
            self._drawn_width = self.size.width
        return [self._strip(y).crop(crop.x, crop.right) for y in crop.line_range]

    def render_line(self, y: int) -> Strip:
        """Row `y` of the panel."""
        width = self.size.width
        spans = _joined(_row(self.lines, y).fitted(width).spans)
        return Strip([Segment(self._text(text), self._style(role)) for text, role in spans], width)

    def _pieces(self, y: int, old: Line, new: Line) -> Iterator[Piece]:
        """The spans of `new` that do not stand in `old`; all of them where a wide character moves what terminals show behind it."""
        if self._place is None or y >= self._place.height:
            return
        is_wide = any(line.width != len(line.text) for line in (old, new))
        same = frozenset() if is_wide else frozenset(_placed(old.fitted(self._place.width)))
        for span in _placed(new.fitted(self._place.width)):
            if span not in same:
                column, text, role = span
                yield self._place.y + y + 1, self._place.x + column + 1, self._text(text), self._terminal_style(role)

    def _text(self, text: str) -> str:
        return to_ascii(text) if self.is_ascii else text

    def _strip(self, y: int) -> Strip:
        if y not in self._strips:
            self._strips[y] = self.render_line(y)
        return self._strips[y]

    def _style(self, role: str) -> Style:
        if role not in self._styles:
            strip = Strip([Segment(" ", self.get_component_rich_style(f"panel--{role}"))])
            for each in self.get_line_filters():
                strip = strip.apply_filter(each, self.background_colors[1])
            self._styles[role] = next(iter(strip)).style or Style()
        return self._styles[role]

    def _terminal_style(self, role: str) -> TerminalStyle:
        if role not in self._terminal_styles:
            cell = Strip([Segment("x", self._style(role))]).render(self.app.console)
            self._terminal_styles[role] = next(style for *_, style in pieces_of(f"\x1b[1;1H{cell}") or [])
        return self._terminal_styles[role]


def _row(lines: list[Line], y: int) -> Line:
    return lines[y] if y < len(lines) else Line()


def _placed(line: Line) -> Iterator[tuple[int, str, str]]:
    """Its spans, each with its column."""
    column = 0
    for text, role in line.spans:
        yield column, text, role
        column += cells(text)


def _joined(spans: list[Span]) -> list[Span]:
    """Blanks take the colour of what stands before them: each change of colour is some 40 bytes to the terminal."""
    joined: list[Span] = []
    for text, role in spans:
        if joined and (joined[-1][1] == role or (text.isspace() and not {role, joined[-1][1]} & BACKED)):
            joined[-1] = (joined[-1][0] + text, joined[-1][1])
        else:
            joined.append((text, role))
    return joined
