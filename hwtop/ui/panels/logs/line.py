"""One log line as a row: whose it is, where it is from, what it says and what it matched."""

from __future__ import annotations

import re

from hwtop.model.job import Job
from hwtop.model.reported.log import LogLine
from hwtop.ui import marks
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.logs.state import SEARCH
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import ELLIPSIS, cells, elide_middle

_TOLD_FROM = 96
"""Cells from which each line names its file, and the weight of what it matched in words."""
_NAME_LEAST, _NAME_MOST = 10, 18
_BEFORE_HIT = 12
"""Characters that stay before a hit which would be out of sight."""


class Writer:
    """Writes lines with whose they are, where they are from, and what they matched."""

    def __init__(self, view: View, job: Job, width: int) -> None:
        self._width = width
        self._owned = log_view.owners(job)
        self._flags = log_view.flags(job)
        self._names = log_view.names(job)
        self._hit = re.compile(re.escape(search), re.IGNORECASE) if (search := view.filter_of(SEARCH)) else None
        longest = max((len(name) for name in self._names.values()), default=0)
        # One file a rank, and one of nobody, are told apart by the number of the rank.
        of_ranks = [path for path in self._names if path in self._owned]
        is_needed = len(of_ranks) > len(set(self._owned.values())) or len(self._names) - len(of_ranks) > 1
        self._is_wide = width >= _TOLD_FROM
        most = _NAME_MOST if self._is_wide else _NAME_LEAST
        self._name_cells = min(longest, most) if len(self._names) > 1 and (is_needed or self._is_wide) else 0

    def line(self, line: LogLine, *, is_marked: bool = False) -> Line:
        """One row of exactly the width; of a long line its start, or the place where the search hits."""
        event = self._flags.get((line.path, line.text))
        rank = log_view.writer(line, event, self._owned)
        shown = Line(f"{rank if rank is not None else '*':>3}{'▸' if is_marked else ' '}", marks.rank(rank))
        if self._name_cells:
            name = self._names.get(line.path, line.path)
            shown.extend(Line(elide_middle(name, self._name_cells), "dim").fitted(self._name_cells)).add(" ")
        if event is None:
            shown.add("│ ", "border").extend(self._text(line.text, "dim" if line.is_past else "text", shown.width + 2))
            shown = shown.fitted(self._width)
        else:
            glyph, word, role = marks.SEVERITY[event.severity]
            tail = Line(f"  {word.lower()} " if self._is_wide else "  ", role).add(f"‹{event.pattern}›", role)
            taken = shown.width + 2
            if not self._is_wide and taken + cells(line.text) + tail.width > self._width:
                tail = Line()  # what the line says is worth more than the name of its pattern
            room = max(8, self._width - tail.width)
            shown.add(f"{glyph} ", role).extend(self._text(line.text, role, taken + tail.width))
            shown = shown.fitted(room).extend(tail).fitted(self._width)
        return shown.recoloured("cursor") if is_marked else shown

    def _text(self, text: str, role: str, taken: int) -> Line:
        room = max(8, self._width - taken)
        hit = self._hit.search(text) if self._hit else None
        line = Line()
        if hit is not None and hit.end() > room:
            line.add(ELLIPSIS, "dim")
            text = text[max(0, hit.start() - _BEFORE_HIT) :]
        # Four characters a cell leave room for those without a width; the rest of a long line is never looked at.
        return line.extend(highlighted(text[: 4 * room], self._hit, role))


def highlighted(text: str, hit: re.Pattern[str] | None, role: str) -> Line:
    """`text` with each hit marked."""
    if hit is None:
        return Line(text, role)
    line, start = Line(), 0
    for found in hit.finditer(text):
        line.add(text[start : found.start()], role).add(found.group(), "hit")
        start = found.end()
    return line.add(text[start:], role)
