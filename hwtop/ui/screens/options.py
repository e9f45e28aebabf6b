"""The settings over the monitor, which goes on below: what is chosen applies immediately where that can be, and `s` writes the file."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from textual import events
from textual.binding import Binding
from textual.message import Message

from hwtop.config import Config
from hwtop.config.settings import LONGEST
from hwtop.errors import HwtopError
from hwtop.ui.keys.names import name
from hwtop.ui.options import SettingsFile
from hwtop.ui.pages import settings as settings_page
from hwtop.ui.screens.dialog import Dialog
from hwtop.ui.settings import view as settings_view
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.tables.filter import edited, typed
from hwtop.ui.widgets.line import Line

Adopt = Callable[[SettingsView], bool]
"""Lets what is chosen hold, and remembers it for the next time; gives back whether the screen is plain ASCII now."""

_WRITERS = frozenset({"enter", "escape", "tab", "delete"})
"""Beside those that `edited` takes, keys that mean something while a value is typed, and so cannot be typed as the name of a key."""


class OptionsScreen(Dialog[int]):
    """Lists, changes and saves the settings."""

    BINDINGS = [
        Binding("escape,q,f10,f2", "leave", "close"),
        Binding("down", "move(1)", "down"),
        Binding("up", "move(-1)", "up"),
        Binding("pagedown", "move(10)", "page down"),
        Binding("pageup", "move(-10)", "page up"),
        Binding("home", "move(-100000)", "first"),
        Binding("end", "move(100000)", "last"),
        Binding("tab", "turn(1)", "next section"),
        Binding("shift+tab", "turn(-1)", "section before"),
        Binding("right,plus", "step(1)", "next value"),
        Binding("left,minus", "step(-1)", "value before"),
        Binding("enter,space", "open", "change"),
        Binding("delete,backspace", "reset", "default"),
        Binding("slash", "find", "find"),
        Binding("s", "save", "save"),
    ]

    class Saved(Message):
        """The file was written, or could not be."""

        def __init__(self, result: Config | HwtopError) -> None:
            self.result = result
            super().__init__()

    def __init__(self, view: SettingsView, file: SettingsFile, adopt: Adopt, *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self.view = view
        self._file = file
        self._adopt = adopt

    def lines(self, width: int, height: int) -> tuple[list[Line], int, int]:
        """The section that is looked at."""
        width, height = settings_page.size(self.view, width, height)
        return settings_page.draw(self.view, self._file.place, width, height), width, height

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """No key does anything else while something is typed."""
        return not self._is_typing

    def takes(self, event: events.Key) -> bool:
        """Type a value, or the word that is looked for: then no key does anything else."""
        if not self._is_typing:
            return False
        view, text = self.view, self._text
        if event.key == "escape":
            self._set(replace(view, typed=None, wanted=None, note="", is_refused=False))
        elif event.key == "enter":
            self._set(settings_view.entered(view) if view.typed is not None else replace(view, wanted=None, note=""))
        elif event.key == "tab" and view.wanted is not None:
            self._set(settings_view.sought(view, view.wanted, is_next=True))
        elif (after := edited(text, event.key, event.character, LONGEST)) is not None:
            self._type(after)
        elif view.typed is not None and view.here.path[0] == "keys" and event.key not in _WRITERS:
            self._type(f"{text} {name(event.key)}".strip())
        return True

    def on_paste(self, event: events.Paste) -> None:
        """All of it."""
        if self._is_typing:
            self._type(typed(self._text, event.text, LONGEST))

    def on_click(self, event: events.Click) -> None:
        """A tab shows its section; a setting is chosen, and changed when it is so already."""
        if self._is_typing or event.widget is not self._panel:
            return
        width, height = self._panel.size
        section = settings_page.section_at(self.view, event.x, width) if event.y == 1 else None
        row = settings_page.row_at(self.view, event.y, width, height)
        if section is not None:
            self.action_turn(section - self.view.section)
        elif row is not None and row == self.view.cursor:
            self.action_open()
        elif row is not None:
            self.action_move(row - self.view.cursor)

    def wheel(self, step: int) -> None:
        """As the down and the up key."""
        if not self._is_typing:
            self.action_move(step)

    def action_move(self, rows: int) -> None:
        """Another setting."""
        self._set(settings_view.moved(self.view, rows))

    def action_turn(self, step: int) -> None:
        """Another section."""
        self._set(settings_view.turned(self.view, step))

    def action_step(self, step: int) -> None:
        """Another value."""
        self._set(settings_view.stepped(self.view, step))

    def action_open(self) -> None:
        """Another value, or type one."""
        self._set(settings_view.opened(self.view))

    def action_reset(self) -> None:
        """The value that holds without a file."""
        self._set(settings_view.reset(self.view))

    def action_find(self) -> None:
        """Take what is typed next as the word to look for."""
        self._set(replace(self.view, wanted="", note="", is_refused=False))

    def action_save(self) -> None:
        """Write what was changed into the file."""
        if not self.view.changes:
            self._set(replace(self.view, note="nothing to save: the file says all this already", is_refused=False))
            return
        self._set(replace(self.view, note="saving …", is_refused=False))
        self._file.save(self.view.changes, self._reported)

    def _reported(self, result: Config | HwtopError) -> None:
        self.post_message(self.Saved(result))

    def on_options_screen_saved(self, event: Saved) -> None:
        """Say how it went."""
        if isinstance(event.result, Config):
            self._set(settings_view.saved(self.view, event.result, self._file.place))
        else:
            self._set(replace(self.view, note=str(event.result), is_refused=True))

    def action_leave(self) -> None:
        """Back to the monitor, which says what is not saved: it holds until hwtop ends."""
        self._adopt(replace(self.view, note="", is_refused=False))
        self.dismiss(len(self.view.changes))

    @property
    def _is_typing(self) -> bool:
        return self.view.typed is not None or self.view.wanted is not None

    @property
    def _text(self) -> str:
        return self.view.typed if self.view.typed is not None else self.view.wanted or ""

    def _type(self, text: str) -> None:
        if self.view.typed is None:
            self._set(settings_view.sought(self.view, text))
        else:
            self._set(replace(self.view, typed=text, note="", is_refused=False))

    def _set(self, view: SettingsView) -> None:
        """Let it hold, and draw it."""
        before, self.view = self.view, view
        if view.draft != before.draft or view.saved != before.saved:
            self._panel.is_ascii = self._adopt(view)
            self._panel.redraw()
        self.redraw()
