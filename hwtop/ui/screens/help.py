"""The help over the monitor, which goes on below: what is typed searches it."""

from __future__ import annotations

from textual import events
from textual.binding import Binding

from hwtop.ui import help_lines
from hwtop.ui.screens.dialog import Dialog
from hwtop.ui.tables.filter import edited, typed
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

_CLOSING = ("question_mark", "q", "enter")
"""Close it while nothing is typed, as in other monitors."""


class HelpScreen(Dialog[None]):
    """Esc forgets what is typed, then closes."""

    BINDINGS = [
        Binding("escape", "back", "clear or close", id="close-help"),
        Binding("f1", "app.pop_screen", "close", id="close-help-at-once"),
        Binding("f10", "app.quit", "quit", id="quit-from-help"),
        Binding("down", "scroll_by(1)", "down", id="help-down"),
        Binding("up", "scroll_by(-1)", "up", id="help-up"),
        Binding("pagedown", "scroll_by(15)", "page down", id="help-page-down"),
        Binding("pageup", "scroll_by(-15)", "page up", id="help-page-up"),
        Binding("home", "scroll_by(-100000)", "start", id="help-start"),
        Binding("end", "scroll_by(100000)", "end", id="help-end"),
    ]

    def __init__(self, view: View | None, *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self._view = view
        self._typed = ""
        self._first = 0

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """What is found, from where the person has scrolled to."""
        shown = help_lines.draw(self._view, (width, height), self._typed, self._first)
        self._first = max(0, min(self._first, shown.most))
        return shown.lines, shown.width, shown.height

    def takes(self, event: events.Key) -> bool:
        """Search what is typed."""
        words = edited(self._typed, event.key, event.character)
        if not self._typed and event.key in _CLOSING:
            self.dismiss(None)
        elif words is None:
            return False
        else:
            self._search(words)
        return True

    def on_paste(self, event: events.Paste) -> None:
        """Search it."""
        self._search(typed(self._typed, event.text))

    def wheel(self, step: int) -> None:
        """Three lines."""
        self.action_scroll_by(3 * step)

    def action_back(self) -> None:
        """Forget what is typed; without it close."""
        if self._typed:
            self._search("")
        else:
            self.dismiss(None)

    def action_scroll_by(self, rows: int) -> None:
        """Further down or up, in a small terminal."""
        self._first += rows
        self.redraw()

    def _search(self, words: str) -> None:
        self._typed, self._first = words, 0
        self.redraw()
