"""TabApp: the screen in a browser's tab. What it draws goes into a Sheet; keys and the mouse come as calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, cast

from textual import events
from textual.driver import Driver
from textual.geometry import Size
from textual.keys import _character_to_key

from hwtop.ui.app import HwtopApp
from hwtop.ui.browser.sheet import Sheet
from hwtop.ui.options import ScreenOptions, Start
from hwtop.ui.terminal.diff_writer import Piece, pieces

MouseAct = Literal["down", "move", "up", "wheel-down", "wheel-up"]
_MOUSE: dict[MouseAct, type[events.MouseEvent]] = {
    "down": events.MouseDown,
    "move": events.MouseMove,
    "up": events.MouseUp,
    "wheel-down": events.MouseScrollDown,
    "wheel-up": events.MouseScrollUp,
}
_KEYS = {
    "ArrowDown": "down",
    "ArrowLeft": "left",
    "ArrowRight": "right",
    "ArrowUp": "up",
    "Backspace": "backspace",
    "Delete": "delete",
    "End": "end",
    "Enter": "enter",
    "Escape": "escape",
    "Home": "home",
    "PageDown": "pagedown",
    "PageUp": "pageup",
    "Tab": "tab",
    **{f"F{number}": f"f{number}" for number in range(1, 13)},
}
"""The browser's name (UI Events, "key" values) -> the toolkit's."""


class TabApp(HwtopApp):
    """The app without a terminal. All calls come from the thread of its event loop."""

    def __init__(
        self,
        start: Start,
        sheet: Sheet,
        *,
        changed: Callable[[], None],
        copied: Callable[[str], None],
        options: ScreenOptions,
    ) -> None:
        # What the toolkit reads to learn which colours there are: here it is always a browser.
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        super().__init__(start, options=options)
        self.sheet = sheet
        self._changed = changed
        self._copied = copied

    @property
    def ground(self) -> tuple[str, str]:
        """Colours of the page and of plain text on it, "#rrggbb"; "" where the theme leaves them to the terminal."""
        colours = self.theme_variables["background"], self.theme_variables["foreground"]
        ground, ink = (colour if colour.startswith("#") else "" for colour in colours)
        return ground, ink

    def get_driver_class(self) -> type[Driver]:
        """One that draws on the sheet."""
        return TabDriver

    def drawn(self, drawn: list[Piece]) -> None:
        """Take in what would go to a terminal."""
        self.sheet.draw(drawn)
        self._changed()

    def copy_to_clipboard(self, text: str) -> None:
        """Into that of the browser."""
        self._copied(text)

    def bell(self) -> None:
        """A tab rings no bell: its title tells."""

    def press(self, key: str, *, shift: bool = False, ctrl: bool = False) -> None:
        """A key by the browser's name; one that the toolkit does not know does nothing."""
        if len(key) == 1 and key.isprintable() and not ctrl:
            self._pass_on(events.Key(_character_to_key(key), key))
        elif len(key) == 1 and key.isascii() and key.isalpha():
            self._pass_on(events.Key(f"ctrl+{key.lower()}", None))
        elif key in _KEYS:
            modifiers = ("ctrl+" if ctrl else "") + ("shift+" if shift else "")
            self._pass_on(events.Key(modifiers + _KEYS[key], None))

    def paste(self, text: str) -> None:
        """Text from the clipboard."""
        self._pass_on(events.Paste(text))

    def point(self, act: MouseAct, x: int, y: int, button: int = 0) -> None:
        """The mouse, at this cell."""
        if 0 <= x < self.sheet.width and 0 <= y < self.sheet.height:
            self._pass_on(_MOUSE[act](None, x, y, 0, 0, button, False, False, False, x, y))

    def resize(self, width: int, height: int) -> None:
        """The window has another size."""
        self.sheet.resize(width, height)
        if isinstance(self._driver, TabDriver):
            self._driver.resize(width, height)

    def _pass_on(self, event: events.Event) -> None:
        if self._driver is not None:
            self._driver.process_message(event)


class TabDriver(Driver):
    """Stands where the terminal would."""

    def write(self, data: str) -> None:
        """Draw `data`. What does more than to draw has no meaning here."""
        self.draw(pieces(data) or [])

    def draw(self, drawn: list[Piece]) -> None:
        """Draw these."""
        cast("TabApp", self._app).drawn(drawn)

    def start_application_mode(self) -> None:
        """Tell the first size."""
        width, height = self._size or (80, 24)
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Tell another size."""
        self._size = width, height
        self.process_message(events.Resize(Size(width, height), Size(width, height)))

    def disable_input(self) -> None:
        """Nothing comes by itself."""

    def stop_application_mode(self) -> None:
        """There is nothing to put back."""
