"""The usual suspects: what is asked of every slow job, each with its answer and the numbers behind it."""

from __future__ import annotations

from collections import Counter

from hwtop.model.symptom import Hypothesis
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_end, wrap

_ANSWER = 11
"""Cells of the answer."""
_BESIDE = 92
"""Cells from which on the numbers stand beside the question."""
_ONE_LINE, _WRAPPED, _WITH_CHECK = range(3)


def wanted(view: View, width: int) -> int:
    """Rows for all that is to be said, frame included."""
    return 2 + len(lines(view, inner(width)))


def least(view: View) -> int:
    """Rows for one line each, frame included."""
    return 2 + len(view.frame.hypotheses)


def draw(view: View, width: int, height: int) -> list[Line]:
    """As much of each as there is room for."""
    return box(lines(view, inner(width), height - 2), width, height, Line("Checks", "title"), tally(view))


def tally(view: View) -> Line:
    """How many of each answer."""
    count = Counter(each.verdict for each in view.frame.hypotheses)
    line = Line()
    for answer, (glyph, word, role) in marks.ANSWER.items():
        if count[answer]:
            line.add("  " if line.width else "").add(f"{glyph} {count[answer]} {word}", role)
    return line


@once
def lines(view: View, width: int, rows: int | None = None, *, has_checks: bool = True) -> list[Line]:
    """One block a question; with `rows` only what fits into them, but always a line each. `has_checks`: say what was looked
    at, where there is room."""
    asked = view.frame.hypotheses
    drawn: list[Line] = []
    for detail in (_WITH_CHECK, _WRAPPED, _ONE_LINE)[not has_checks :]:
        drawn = [line for each in asked for line in _block(each, asked, width, detail)]
        if rows is None or len(drawn) <= rows:
            break
    return drawn


def _block(each: Hypothesis, asked: tuple[Hypothesis, ...], width: int, detail: int) -> list[Line]:
    glyph, word, role = marks.ANSWER[each.verdict]
    head = Line(f"{glyph} {word}", role).fitted(_ANSWER)
    question = min(max(len(other.hypothesis) for other in asked), width // 2)
    is_yes = each.verdict == "yes"
    head.add(elide_end(each.hypothesis, width - _ANSWER), "strong" if is_yes else "text")
    tone = "text" if each.verdict != "unknown" else "dim"
    indent = _ANSWER + question + 2
    if detail == _ONE_LINE:
        return [head.fitted(indent).add(elide_end(each.result, max(0, width - indent)), tone)]
    if width >= _BESIDE:
        results = wrap(each.result, width - indent)
        reported = [head.fitted(indent).add(results[0] if results else "", tone)]
        reported += [Line(" " * indent).add(piece, tone) for piece in results[1:]]
    else:
        indent = _ANSWER
        reported = [head, *(Line(" " * indent).add(piece, tone) for piece in wrap(each.result, width - indent))]
    if detail == _WITH_CHECK:
        reported += [Line(" " * indent).add(piece, "dim") for piece in wrap(f"checked: {each.check}", width - indent)]
    return reported
