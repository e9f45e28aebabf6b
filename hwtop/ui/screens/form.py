"""A form over the monitor: what to save of the screen, and how."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding

from hwtop.ui import form
from hwtop.ui.form import Row
from hwtop.ui.screens.dialog import Dialog
from hwtop.ui.widgets.line import Line


class FormScreen(Dialog[tuple[int, ...] | None]):
    """Gives back the place of the chosen value in each row, or None when it was left."""

    BINDINGS = [
        Binding("escape,q,f10", "leave", "leave"),
        Binding("down,tab", "move(1)", "down"),
        Binding("up,shift+tab", "move(-1)", "up"),
        Binding("right,space", "turn(1)", "next value"),
        Binding("left", "turn(-1)", "value before"),
        Binding("enter", "done", "save"),
    ]

    def __init__(self, title: str, rows: Sequence[Row], *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self._title = title
        self._rows = list(rows)
        self._cursor = 0

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """The form with its cursor."""
        width, height = form.size(self._rows, width, height)
        return form.draw(self._title, self._rows, self._cursor, width, height), width, height

    def action_move(self, step: int) -> None:
        """Another row."""
        self._cursor = (self._cursor + step) % len(self._rows)
        self.redraw()

    def action_turn(self, step: int) -> None:
        """Another value of this row."""
        self._rows[self._cursor] = self._rows[self._cursor].turned(step)
        self.redraw()

    def action_done(self) -> None:
        """Give the answers."""
        self.dismiss(tuple(row.chosen for row in self._rows))

    def action_leave(self) -> None:
        """Answer nothing."""
        self.dismiss(None)

    def wheel(self, step: int) -> None:
        """As the down and the up key."""
        self.action_move(step)
