"""The help line of the GPU page: why numbers of the selected GPU are not there."""

from __future__ import annotations

from hwtop.ui.once import once
from hwtop.ui.panels.gpu import reasons as gpu_reasons
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.block import Block, block
from hwtop.ui.panels.gpu.reasons import Reason
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end, wrap

_FIELDS = 3
"""Named on the line; the card names all."""
_ROWS_MOST, _ROWS_FROM = 3, 30
"""All reasons take up to so many rows, on a page of at least so many."""


def rows(view: View, width: int, room: int) -> int:
    """As many as all reasons need where that is few, else 1; 0 where nothing is missing."""
    needed = len(wrap(_all(view), width - 4))
    return needed if needed <= (_ROWS_MOST if room >= _ROWS_FROM else 1) else 1


def draw(view: View, width: int, height: int) -> list[Line]:
    """All reasons, or as many as there is room for and how many more."""
    whole = wrap(_all(view), width - 4)
    if len(whole) <= height:
        return [Line(f"{'   ' if number else ' ◌ '}{text}", "dim").fitted(width) for number, text in enumerate(whole)]
    found = _reasons(view)
    line = Line(f" ◌ {_head(view)}", "dim")
    for number, reason in enumerate(found):
        text = ("; " if number else "") + _said(reason, len(view.frame.derived.gpus))
        room = width - line.width - 1 - cells(_more(len(found) - number - 1))
        if number and cells(text) > room:
            line.add(_more(len(found) - number), "accent")
            break
        line.add(elide_end(text, max(8, room)), "dim")
    return [line.fitted(width)]


def all_reported(view: View, width: int) -> Block:
    """Every reason with all that it concerns, for the card."""
    gpus = view.frame.derived.gpus
    lines = [Line(f"{', '.join(reason.fields)}: {_because(reason, len(gpus))}", "dim") for reason in _reasons(view)]
    return block("Not reported", lines, width, indent=2)


def _head(view: View) -> str:
    here = gpu_view.selected(view)
    return f"GPU {here.index} " if here else ""


def _all(view: View) -> str:
    count = len(view.frame.derived.gpus)
    reported = "; ".join(_said(reason, count) for reason in _reasons(view))
    return _head(view) + reported if reported else ""


def _more(count: int) -> str:
    return f"; {count} more: Enter" if count else ""


def _said(reason: Reason, count: int) -> str:
    more = len(reason.fields) - _FIELDS
    names = ", ".join(reason.fields[:_FIELDS]) + (f" and {more} more" if more > 0 else "")
    return f"{names}: {_because(reason, count)}"


def _because(reason: Reason, count: int) -> str:
    shared = gpu_reasons.who(reason, count)
    return f"{reason.reason} ({shared})" if shared else reason.reason


@once
def _reasons(view: View) -> list[Reason]:
    here = gpu_view.selected(view)
    return gpu_reasons.reasons(here, view.frame.derived.gpus) if here else []
