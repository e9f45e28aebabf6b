"""The help line of the GPU page: why numbers of the selected GPU are not there."""

from __future__ import annotations

from hwtop.ui import gpu_reasons, gpu_view
from hwtop.ui.gpu_reasons import Reason
from hwtop.ui.panels.gpu_block import Block, block
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end

_FIELDS = 3
"""Named on the line; the card names all."""


def rows(view: View) -> int:
    """1 where something is missing, else 0: the line is not drawn."""
    return int(bool(_reasons(view)))


def draw(view: View, width: int, _: int) -> list[Line]:
    """As many reasons as there is room for, then how many more."""
    here, found = gpu_view.selected(view), _reasons(view)
    if here is None:
        return [Line().fitted(width)]
    line = Line(f" ◌ GPU {here.index} tells no ", "dim")
    for number, reason in enumerate(found):
        text = ("; no " if number else "") + _said(reason, len(view.frame.moment.gpus))
        room = width - line.width - 1 - cells(_more(len(found) - number - 1))
        if number and cells(text) > room:
            line.add(_more(len(found) - number), "accent")
            break
        line.add(elide_end(text, max(8, room)), "dim")
    return [line.fitted(width)]


def _more(count: int) -> str:
    return f"; {count} more: Enter" if count else ""


def all_told(view: View, width: int) -> Block:
    """Every reason with all that it concerns, for the card."""
    gpus = view.frame.moment.gpus
    lines = [Line(f"{', '.join(reason.fields)}: {_because(reason, len(gpus))}", "dim") for reason in _reasons(view)]
    return block("Not told", lines, width)


def _said(reason: Reason, count: int) -> str:
    more = len(reason.fields) - _FIELDS
    names = ", ".join(reason.fields[:_FIELDS]) + (f" and {more} more" if more > 0 else "")
    return f"{names}: {_because(reason, count)}"


def _because(reason: Reason, count: int) -> str:
    shared = gpu_reasons.who(reason, count)
    return f"{reason.reason} ({shared})" if shared else reason.reason


def _reasons(view: View) -> list[Reason]:
    here = gpu_view.selected(view)
    return gpu_reasons.reasons(here, view.frame.moment.gpus) if here else []
