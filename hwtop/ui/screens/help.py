"""The keys, as the bindings tell them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from hwtop.ui import keys
from hwtop.ui.fields import RANKS, processes
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel
from hwtop.ui.widgets.text import wrap

_WIDTH = 80
_KEYS = 19
"""Cells for the keys of a line."""
_FILTERS = (
    ("gpu=3  rank=0-3,7", "A number, ranges, a list; rank=none: those without"),
    ("cpu>80  mem>2G", "More, less (<), at least (>=); sizes in K M G T"),
    ("ago>30s  step<100", "Times in s m h d, counts in k m"),
    ("state=D  phase=data", "A part of the word, or the letter of a process state"),
    ("word  !word  !gpu=3", "Text of the row; ! leaves out (in logs one word)"),
    ('"a b"', "Blanks, and = < > as text"),
)
_FIELDS = tuple(dict.fromkeys((*RANKS, *processes(None))))


def help_lines(width: int, height: int, *, is_readonly: bool = False, scroll: int = 0) -> list[Line]:
    """Every key with what it does, in a box, from line `scroll` on."""
    lines = _lines(is_readonly)
    first = max(0, min(scroll, len(lines) - (height - 2)))
    note = Line("Esc or ? closes", "dim")
    if len(lines) > height - 2:
        note = (
            Line(f"{first + 1}–{first + height - 2} of {len(lines)}  ", "accent")
            .add("↓ ↑", "key")
            .add(" more", "label")
        )
    return box(lines[first:], width, height, Line("Keys", "title"), note)


def _lines(is_readonly: bool) -> list[Line]:
    lines = []
    for binding in _told(is_readonly):
        shown = binding.key_display or (binding.key.capitalize() if len(binding.key) > 1 else binding.key)
        lines.append(Line(f"  {shown:<{_KEYS}}", "key").add(binding.tooltip, "text"))
    words = "" if is_readonly else "; arrows move, k signals"
    lines += [Line(), Line("  Filters of ranks and processes: all terms must match", "title")]
    lines += [Line(f"  {example:<{_KEYS}}", "key").add(words, "text") for example, words in _FILTERS]
    lines += [Line(f"  {piece}", "dim") for piece in wrap(f"fields: {' '.join(_FIELDS)}", _WIDTH - 6)]
    return [*lines, Line(f"  The selected rank stays on every page{words}.", "dim")]


def _told(is_readonly: bool) -> list[Binding]:
    gone = keys.CHANGES if is_readonly else []
    return [item for item in (*keys.MONITOR, *keys.APP) if isinstance(item, Binding) and item.show and item not in gone]


class HelpScreen(ModalScreen[None]):
    """Shown over the monitor, which goes on below."""

    BINDINGS = [
        Binding("escape,question_mark,h,f1,enter", "app.pop_screen", "close", id="close-help"),
        Binding("q,f10", "app.quit", "quit", id="quit-from-help"),
        Binding("down,pagedown,end", "scroll_by(10)", "down", id="help-down"),
        Binding("up,pageup,home", "scroll_by(-10)", "up", id="help-up"),
    ]

    def __init__(self, *, is_ascii: bool = False, is_readonly: bool = False) -> None:
        super().__init__()
        self._is_ascii = is_ascii
        self._is_readonly = is_readonly
        self._first = 0

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

    def action_scroll_by(self, rows: int) -> None:
        """Further down or up, in a small terminal."""
        self._first += rows
        self._draw()

    def _draw(self) -> None:
        panel = self.query_one(Panel)
        wanted = len(_lines(self._is_readonly)) + 2
        width, height = min(_WIDTH, self.app.size.width), min(wanted, self.app.size.height)
        panel.styles.width, panel.styles.height = width, height
        self._first = max(0, min(self._first, wanted - height))
        panel.show(help_lines(width, height, is_readonly=self._is_readonly, scroll=self._first))
