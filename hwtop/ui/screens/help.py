"""The keys, as the bindings tell them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from hwtop.ui import keys
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel

_WIDTH = 66


def help_lines(width: int, height: int) -> list[Line]:
    """Every key with what it does, in a box."""
    lines = [Line()]
    for binding in _told():
        shown = binding.key_display or (binding.key.capitalize() if len(binding.key) > 1 else binding.key)
        lines.append(Line(f"  {shown:<15}", "key").add(binding.tooltip, "text"))
    lines.append(Line("  A selected rank stays selected on every page.", "dim"))
    return box(lines, width, height, Line("Keys", "title"), Line("Esc or ? closes", "dim"))


def _told() -> list[Binding]:
    return [item for item in (*keys.MONITOR, *keys.APP) if isinstance(item, Binding) and item.show]


class HelpScreen(ModalScreen[None]):
    """Shown over the monitor, which goes on below."""

    BINDINGS = [
        Binding("escape,question_mark,h,f1,enter", "app.pop_screen", "close", id="close-help"),
        Binding("q,f10", "app.quit", "quit", id="quit-from-help"),
    ]

    def __init__(self, *, is_ascii: bool = False) -> None:
        super().__init__()
        self._is_ascii = is_ascii

    def compose(self) -> ComposeResult:
        """One panel."""
        panel = Panel(id="help")
        panel.is_ascii = self._is_ascii
        yield panel

    def on_mount(self) -> None:
        """Fill it."""
        self._draw()

    def on_resize(self) -> None:
        """Fit it."""
        self._draw()

    def _draw(self) -> None:
        panel = self.query_one(Panel)
        wanted = len(_told()) + 4
        width, height = min(_WIDTH, self.app.size.width), min(wanted, self.app.size.height)
        panel.styles.width, panel.styles.height = width, height
        panel.show(help_lines(width, height))
