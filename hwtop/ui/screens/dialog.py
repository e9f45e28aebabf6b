"""Dialogs over the monitor, which goes on below: a menu, a question whose answer is No until said otherwise, a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from hwtop.ui import menu
from hwtop.ui.menu import Choice, Menu
from hwtop.ui.screens.type_ahead import handed_on, obey
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A box in the middle. Keys that it does not know do nothing; leaving it never leaves hwtop."""

    def __init__(self, *, is_ascii: bool = False) -> None:
        super().__init__()
        self._panel = Panel(id="dialog")
        self._panel.is_ascii = is_ascii

    def compose(self) -> ComposeResult:
        """One panel."""
        yield self._panel

    def on_mount(self) -> None:
        """Fill it."""
        self.redraw()

    def on_resize(self) -> None:
        """Fit it."""
        self.redraw()

    async def on_key(self, event: events.Key) -> None:
        """Type, or do what the key is bound to."""
        if handed_on(self, event):
            return
        if self.takes(event):
            event.stop()
        else:
            await obey(self, event)

    def takes(self, event: events.Key) -> bool:  # noqa: ARG002
        """Whether the key was typed into what this dialog asks for, and so means nothing else."""
        return False

    def on_mouse_scroll_down(self) -> None:
        """One step."""
        self.wheel(1)

    def on_mouse_scroll_up(self) -> None:
        """One step."""
        self.wheel(-1)

    def wheel(self, step: int) -> None:
        """The mouse wheel, one step down or (-1) up."""

    def redraw(self) -> None:
        """Fill the panel for the size there is now."""
        lines, width, height = self.lines(*self.app.size)
        self._panel.styles.width, self._panel.styles.height = width, height
        self._panel.show(lines)

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """The box on a screen of this size: its lines, its cells and its rows."""
        raise NotImplementedError


class MenuScreen(Dialog[T | None], Generic[T]):
    """Gives back the value of the choice, or None when it was left. `subjects` make the menu, each for another subject."""

    BINDINGS = [
        Binding("escape,q,f10", "leave", "leave"),
        Binding("down,tab", "move(1)", "down"),
        Binding("up,shift+tab", "move(-1)", "up"),
        Binding("home", "move(-1000)", "first"),
        Binding("end", "move(1000)", "last"),
        Binding("right", "turn(1)", "next subject"),
        Binding("left", "turn(-1)", "subject before"),
        Binding("enter", "choose", "choose"),
    ]

    def __init__(self, subjects: Sequence[Callable[[], Menu[T]]], *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self._subjects = subjects
        self._subject = 0
        self._cursor = 0
        self._menu = subjects[0]()

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """The menu with its cursor."""
        width, height = menu.size(self._menu, width, height)
        return menu.draw(self._menu, self._cursor, width, height), width, height

    def action_move(self, step: int) -> None:
        """Another choice; a single step behind the last one leads to the first, but not from No to Yes."""
        count, there = max(1, len(self._menu.choices)), self._cursor + step
        wraps = abs(step) == 1 and count > 2
        self._cursor = there % count if wraps else max(0, min(count - 1, there))
        self.redraw()

    def action_turn(self, step: int) -> None:
        """The same choices for another subject."""
        self._subject = (self._subject + step) % len(self._subjects)
        self._menu = self._subjects[self._subject]()
        self.action_move(0)

    def action_choose(self) -> None:
        """Take the choice under the cursor, unless it is refused."""
        choice: Choice[T] | None = self._menu.choices[self._cursor] if self._menu.choices else None
        if choice is not None and choice.refusal is None:
            self.dismiss(choice.value)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def wheel(self, step: int) -> None:
        """As the down and the up key."""
        self.action_move(step)


class ConfirmScreen(MenuScreen[bool]):
    """Yes or No. No is under the cursor, and every way of leaving is a No."""

    BINDINGS = [Binding("y", "answer(True)", "yes"), Binding("n", "answer(False)", "no")]

    def __init__(self, title: str, head: Sequence[Line], yes: str, *, is_ascii: bool = False) -> None:
        choices = (Choice("No, leave the job alone", False), Choice(f"Yes, {yes}", True, role="bad"))
        keys = (("y", "yes"), ("n Esc", "no"))
        super().__init__([lambda: Menu(title, choices, tuple(head), keys, "border-hot")], is_ascii=is_ascii)

    def action_answer(self, is_yes: bool) -> None:
        """By letter."""
        self.dismiss(is_yes)


class TextScreen(Dialog[None]):
    """A text to read, scroll and copy."""

    BINDINGS = [
        Binding("escape,q,enter,f10", "leave", "close"),
        Binding("down,j", "scroll_lines(1)", "down"),
        Binding("up", "scroll_lines(-1)", "up"),
        Binding("pagedown,space", "scroll_lines(20)", "page down"),
        Binding("pageup", "scroll_lines(-20)", "page up"),
        Binding("home", "scroll_lines(-1000000)", "start"),
        Binding("end", "scroll_lines(1000000)", "end"),
        Binding("right", "shift(8)", "right"),
        Binding("left", "shift(-8)", "left"),
        Binding("y", "copy", "copy"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self._title = title
        self._text = list(lines)
        self._first = 0
        self._left = 0
        self._is_copied = False

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """As much of the text as fits, from where the person has scrolled to."""
        room = max(1, height - 2)
        shown = table.window(len(self._text), room, self._first)
        self._first = shown.start
        note = Line("copied  ", "good") if self._is_copied else Line()
        if len(shown) < len(self._text):
            note.add(f"{table.part(shown, len(self._text))}  ", "accent")
        for key, word in (("y", "copy"), ("Esc", "close")):
            note.add(key, "key").add(f" {word}  ", "label")
        lines = [_from(line, self._left) for line in self._text[shown.start : shown.stop]]
        return box(lines, width, height, Line(self._title, "title"), note), width, height

    def action_scroll_lines(self, rows: int) -> None:
        """Further down or up."""
        self._first += rows
        self.redraw()

    def action_shift(self, cells: int) -> None:
        """Long lines further to the right or left."""
        self._left = max(0, self._left + cells)
        self.redraw()

    def action_copy(self) -> None:
        """The whole text into the clipboard of the terminal."""
        self.app.copy_to_clipboard("\n".join(line.text for line in self._text))
        self._is_copied = True
        self.redraw()

    def action_leave(self) -> None:
        """Back to the monitor."""
        self.dismiss(None)

    def wheel(self, step: int) -> None:
        """Three rows."""
        self.action_scroll_lines(3 * step)


def _from(line: Line, left: int) -> Line:
    """`line` without its first `left` characters."""
    shown = Line()
    for text, role in line.spans:
        shown.add(text[left:], role)
        left = max(0, left - len(text))
    return shown
