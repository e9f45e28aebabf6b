"""The palette over the monitor, which goes on below: what is typed finds, Enter runs, a theme is seen before it is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.binding import Binding

from hwtop.ui import palette
from hwtop.ui.palette import Entry
from hwtop.ui.screens.dialog import Dialog
from hwtop.ui.tables.filter import edited, typed
from hwtop.ui.widgets.line import Line

_FIRST_ROW = 3
"""Of the entries: below the frame, what is typed, and a blank."""


class PaletteScreen(Dialog[Entry | None]):
    """Gives back the entry that was chosen, or None when it was left; then the theme is the one from before."""

    BINDINGS = [
        Binding("escape", "back", "leave"),
        Binding("down,tab,ctrl+n", "move(1)", "down"),
        Binding("up,shift+tab,ctrl+p", "move(-1)", "up"),
        Binding("pagedown", "move(10)", "page down"),
        Binding("pageup", "move(-10)", "page up"),
        Binding("home", "move(-100000)", "first"),
        Binding("end", "move(100000)", "last"),
        Binding("enter", "choose", "run"),
    ]

    def __init__(
        self, entries: Sequence[Entry], apply_theme: Callable[[str], None], themed: str, *, is_ascii: bool = False
    ) -> None:
        """`apply_theme` shows a theme, `themed` is the one to go back to."""
        super().__init__(is_ascii=is_ascii)
        self._entries = entries
        self._wear = apply_theme
        self._worn = self._seen = themed
        self._typed = ""
        self._cursor = 0
        self._found = palette.found(entries, "")

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """What is found, with the cursor."""
        return palette.draw(self._found, self._cursor, self._typed, (width, height))

    def takes(self, event: events.Key) -> bool:
        """Search what is typed."""
        words = edited(self._typed, event.key, event.character)
        if words is not None:
            self._search(words)
        return words is not None

    def on_paste(self, event: events.Paste) -> None:
        """Type all of it."""
        self._search(typed(self._typed, event.text))

    def action_move(self, step: int) -> None:
        """Another entry; a theme is worn at once."""
        self._cursor = max(0, min(len(self._found) - 1, self._cursor + step))
        self._preview(self._here.theme if self._here else "")
        self.redraw()

    def action_choose(self) -> None:
        """Run what is under the cursor."""
        if self._here is not None:
            self.dismiss(self._here)

    def action_back(self) -> None:
        """Run nothing."""
        self._preview("")
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Run the entry that was clicked at; beside the box leave."""
        box = self._panel.region
        if not box.contains(event.screen_x, event.screen_y):
            self.action_back()
            return
        rows = palette.rows(len(self._found), self._cursor, box.height)
        row = event.screen_y - box.y - _FIRST_ROW
        if 0 <= row < len(rows):
            self._cursor = rows[row]
            self.action_choose()

    def wheel(self, step: int) -> None:
        """As the down and the up key."""
        self.action_move(step)

    @property
    def _here(self) -> Entry | None:
        return self._found[self._cursor][0] if self._found else None

    def _search(self, words: str) -> None:
        self._typed, self._cursor = words, 0
        self._found = palette.found(self._entries, words)
        self.action_move(0)

    def _preview(self, theme: str) -> None:
        wanted = theme or self._worn
        if wanted != self._seen:
            self._seen = wanted
            self._wear(wanted)
