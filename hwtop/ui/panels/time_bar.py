"""The row above the footer while the picture is held: what is kept, where in it we are, when findings came and went, when
nothing was looked at. While a time is typed: what is typed."""

from __future__ import annotations

from msgspec import Struct

from hwtop.fields import units
from hwtop.seconds import clock
from hwtop.symptoms.severity import gravity
from hwtop.ui import marks, past
from hwtop.ui.panels import picture_time
from hwtop.ui.past import StoredFrame
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import tail

_SPANS_S = (600.0, 3_600.0, 6 * 3_600.0, 86_400.0)
"""The bar shows the shortest of these that reaches back to the picture, else the whole watch."""
_TRACK_LEAST = 20
_CLEAR, _GAP, _PLAIN, _UP, _HERE, _MORE = "✔", "┈", "─", "━", "┃", "‹"


class _Bar(Struct, frozen=True):
    """The row, cut in three: "12:00:10 ├", the cells of the track, "┤ now ✔ OK"."""

    head: Line
    tail: Line
    cells: int
    start_s: float
    end_s: float

    def cell(self, time_s: float) -> int:
        """Where on the track this time is."""
        share = (time_s - self.start_s) / max(1e-9, self.end_s - self.start_s)
        return max(0, min(self.cells - 1, int(share * self.cells)))


def rows(view: View) -> int:
    """1 while the picture is held or a time is typed, else 0."""
    is_shown = view.is_paused or view.time_typed is not None
    return int(is_shown and bool(view.past.kept))


def draw(view: View, width: int, _: int) -> list[Line]:
    """One row. Without colour the glyphs tell: ✖ ▲ ● a finding came, ✔ one went, ┈ not looked at or not loaded, ┃ here."""
    if view.time_typed is not None:
        return [_input(view.time_typed, width)]
    bar = _bar(view, width)
    line = Line().extend(bar.head)
    for text, role in _track(view, bar):
        line.add(text, role)
    return [line.extend(bar.tail).fitted(width)]


def place_at(view: View, x: int, width: int) -> int | None:
    """Of the kept frame at cell `x` of the row: where a finding came or went, that moment; left of the track what lies before
    it, right of it None: back to now."""
    kept, bar = view.past.kept, _bar(view, width)
    cell = x - bar.head.width
    if cell >= bar.cells:
        return None
    if cell < 0:
        first = next((place for place, each in enumerate(kept) if each.time_s >= bar.start_s), 0)
        return max(0, first - 1)
    here = [place for place, each in enumerate(kept) if bar.start_s <= each.time_s and bar.cell(each.time_s) == cell]
    turns = [place for place in here if kept[place].is_turn]
    if turns:
        return max(turns, key=lambda place: gravity(kept[place].raised))
    return past.nearest(view.past, bar.start_s + (cell + 0.5) / bar.cells * (bar.end_s - bar.start_s))


def _bar(view: View, width: int) -> _Bar:
    kept = view.past.kept
    end_s, first_s = kept[-1].time_s, kept[0].time_s
    if view.playback is not None:
        return _recorded_bar(view, first_s, width)
    ago_s = end_s - view.frame.derived.time_s
    span_s = next((each for each in _SPANS_S if each > ago_s), end_s - first_s)
    start_s = max(first_s, end_s - span_s)
    head = Line(f" {_MORE if start_s > first_s else ' '}{clock(start_s)} ", "label").add("├", "border")
    tail = Line("┤", "border").add(" now ", "label")
    assert view.past.newest is not None
    level = view.past.newest.verdict.level
    tail.add(" ".join(marks.VERDICT[level]), _VERDICT_ROLES.get(level, "text")).add(" ")
    reported = _kept_words(view)
    if head.width + tail.width + reported.width + _TRACK_LEAST <= width:
        tail.extend(reported)
    return _Bar(head, tail, max(1, width - head.width - tail.width), start_s, end_s)


def _recorded_bar(view: View, first_s: float, width: int) -> _Bar:
    """Of all of it, loaded or not, from start to end."""
    assert view.playback is not None
    assert view.past.newest is not None
    end_s, loaded_s = view.playback.end_s, view.past.newest.derived.time_s
    head = Line(f"  {clock(first_s)} ", "label").add("├", "border")
    tail = Line("┤", "border").add(f" {clock(end_s)} ", "label")
    if not view.past.is_whole:
        tail.add(f"loading {units.pct(100 * (loaded_s - first_s) / max(1e-9, end_s - first_s))} ", "accent")
    return _Bar(head, tail, max(1, width - head.width - tail.width), first_s, end_s)


_VERDICT_ROLES = {"ok": "good", "info": "info", "warning": "warn", "critical": "bad"}


def _kept_words(view: View) -> Line:
    """How far the picture stands from the one before it, and from where on it has trends."""
    place = past.place_of(view.past, view.frame.number)
    apart_s = past.spacing_s(view.past, place)
    reported = [f"a picture in {units.duration(round(apart_s))}"] if apart_s > 2 * view.frame.derived.interval_s else []
    reach_s = past.trends_s(view.frame)
    if reach_s < min(view.frame.watched_s, past.TRENDS_S) - 1:
        reported.append(f"trends of {units.duration(round(reach_s))}" if reach_s > 1 else "trends not kept")
    return Line(f" {', '.join(reported)} ", "dim") if reported else Line()


def _track(view: View, bar: _Bar) -> list[tuple[str, str]]:
    drawn = [(_PLAIN, "track")] * bar.cells
    kept = [each for each in view.past.kept if each.time_s >= bar.start_s]
    for each, after in zip(kept, [*kept[1:], kept[-1]], strict=True):
        if each.severity is not None:
            _fill(drawn, bar, each.time_s, after.time_s - after.gap_s, (_UP, marks.SEVERITY[each.severity][2]))
    for each in kept:
        if each.gap_s:
            _fill(drawn, bar, each.time_s - each.gap_s, each.time_s, (_GAP, "dim"))
    if not view.past.is_whole and view.playback is not None:
        _fill(drawn, bar, kept[-1].time_s, bar.end_s, (_GAP, "dim"))
    for each in sorted((each for each in kept if each.is_turn), key=lambda each: gravity(each.raised)):
        drawn[bar.cell(each.time_s)] = _mark(each)
    drawn[bar.cell(view.frame.derived.time_s)] = (_HERE, "tab-on")
    return drawn


def _fill(drawn: list[tuple[str, str]], bar: _Bar, start_s: float, end_s: float, cell: tuple[str, str]) -> None:
    for at in range(bar.cell(start_s), max(bar.cell(start_s) + 1, bar.cell(end_s))):
        drawn[at] = cell


def _mark(each: StoredFrame) -> tuple[str, str]:
    if each.raised is None:
        return _CLEAR, "good"
    glyph, _, role = marks.SEVERITY[each.raised]
    return glyph, role


def _input(text: str, width: int) -> Line:
    help_ = Line(picture_time.EXAMPLES, "dim").add("  Enter", "key").add(" goes  ", "label")
    help_.add("Esc", "key").add(" leaves ", "label")
    line = Line(" go to time: ", "key")
    line.add(tail(text, width - line.width - 1), "strong").add("▏", "accent")
    if line.width + help_.width + 2 > width:
        return line.fitted(width)
    return line.add(" " * (width - line.width - help_.width)).extend(help_)
