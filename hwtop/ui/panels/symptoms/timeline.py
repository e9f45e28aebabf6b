"""When each symptom of this session was up: a row a symptom on one axis of time."""

from __future__ import annotations

from hwtop.model.frame import Frame
from hwtop.model.symptom import Episode
from hwtop.ui import marks
from hwtop.ui.panels.symptoms import view as symptom_view
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle

_NAME_MOST = 30
_WHEN = 17
"""Cells for "08:12:14–08:14:00"."""
_BAR_LEAST = 12


def wanted(view: View) -> int:
    """Rows for all symptoms, axis and frame included; 0 where none was ever up."""
    count = len(_by_symptom(view.frame))
    return count + 3 if count else 0


def draw(view: View, width: int, height: int) -> list[Line]:
    """The newest symptoms where not all have room."""
    drawn = lines(view, inner(width))
    kept = [*drawn[:-1][-max(1, height - 3) :], *drawn[-1:]]
    return box(kept, width, height, Line("When", "title"), Line("since hwtop started", "dim"))


def symptom_at(view: View, y: int, height: int) -> str | None:
    """The symptom in this row."""
    shown = list(_by_symptom(view.frame))[-max(1, height - 3) :]
    return shown[y - 1] if 0 <= y - 1 < len(shown) else None


def lines(view: View, width: int) -> list[Line]:
    """A row a symptom in the order in which they came, then the axis."""
    found = _by_symptom(view.frame)
    if not found:
        return []
    name = min(_NAME_MOST, max(map(len, found)), max(8, width - _WHEN - _BAR_LEAST - 6))
    cells = max(1, width - name - _WHEN - 6)
    here = symptom_view.selected(view)
    rows = []
    for symptom, episodes in found.items():
        is_here = here is not None and here.symptom == symptom
        row = Line("▸ " if is_here else "  ", "accent").add(
            elide_middle(symptom, name), "strong" if is_here else "text"
        )
        row = row.fitted(name + 4).extend(_bar(view.frame, episodes, cells))
        rows.append(row.add("  ").extend(_when(view.frame, episodes[-1])))
    start = symptom_view.clock_after(view.frame, 0)
    axis = Line(" " * (name + 4)).add(start, "dim")
    end = symptom_view.clock_after(view.frame, view.frame.watched_s) if view.is_paused else "now"
    axis.add(end.rjust(max(0, cells - len(start))), "dim")
    return [*rows, axis]


def _by_symptom(frame: Frame) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for episode in frame.episodes:
        found.setdefault(episode.symptom, []).append(episode)
    return found


def _when(frame: Frame, episode: Episode) -> Line:
    start = symptom_view.clock_after(frame, episode.seen_s)
    if episode.cleared_s is None:
        return Line(f"seen {start}", "text")
    return Line(f"{start}–{symptom_view.clock_after(frame, episode.cleared_s)}", "dim")


def _bar(frame: Frame, episodes: list[Episode], cells: int) -> Line:
    """Seen but not proven yet, up, gone: each with a line of its own."""
    drawn = [("─", "track")] * cells

    def at(after_s: float) -> int:
        return max(0, min(cells - 1, int(after_s / max(1e-9, frame.watched_s) * cells)))

    for episode in episodes:
        glyph, _, role = marks.SEVERITY[episode.severity]
        first, last = at(episode.raised_s), at(episode.cleared_s if episode.cleared_s is not None else frame.watched_s)
        for cell in range(at(episode.seen_s), first):
            drawn[cell] = ("┅", "dim")
        for cell in range(first, last + 1):
            drawn[cell] = ("━", role)
        if episode.cleared_s is not None:
            drawn[last] = ("✔", "good")
        drawn[first] = (glyph, role)
    line = Line()
    for text, role in drawn:
        line.add(text, role)
    return line
