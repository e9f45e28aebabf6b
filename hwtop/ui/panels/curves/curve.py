"""One curve, large: what it says in words, its chart, and what the marks on it mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

from hwtop.fields import units
from hwtop.model.curve import Curve
from hwtop.model.job import Job
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.curves import view as curve_view
from hwtop.ui.panels.curves.plot import RESTART, Plot, plot
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.panels.curves.view import TITLES
from hwtop.ui.view import View
from hwtop.ui.widgets.axis import number
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.text import elide_middle, wrap

_MOST_FILES = 8
_GAP = "   "


def draw(view: View, width: int, height: int) -> list[Line]:
    """The selected curve; where the training has reported none, what hwtop reads and how to make it report."""
    curve = curve_view.selected(view)
    room = inner(width)
    if curve is None:
        return box(list(_nothing(view, room)), width, height, Line("Curves", "title"), Line())
    is_log = curve.name in view.state(CurvesState).log_scales
    title = Line(TITLES[curve.name], "title").add(f"{curve_view.unit(curve)}", "label")
    title.add("  log scale", "accent" if is_log else "dim") if is_log else None
    facts = _rows(_facts(view, curve), room)[: max(1, height // 6)]
    # The legend takes its rows from the chart, and only a chart knows how long it is.
    drawn: Plot | None = None
    legend: list[Line] = []
    for _ in range(2):
        events = view.job.logs.events if view.job else ()
        drawn = plot(curve, room, height - 2 - len(facts) - len(legend), is_log=is_log, events=events)
        needed = _rows(_legend(curve, drawn), room)[:2] if drawn else []
        if len(needed) == len(legend):
            break
        legend = needed
    leave = key_names.first("log-scale", view.keymap) if is_log else None
    chart = drawn.lines if drawn else list(_undrawn(curve, leave, room))
    return box([*facts, *chart, *legend], width, height, title, _note(view, curve, width))


def _note(view: View, curve: Curve, width: int) -> Line:
    """Where it was read."""
    whose = "" if curve.rank is None else f"rank {curve.rank}, "
    reported = len(curve_view.sources(view, curve.name))
    more = (
        Line(f"{reported} sources ", "label").add(key_names.first("order", view.keymap), "key").add("  ", "label")
        if reported > 1
        else Line()
    )
    return more.add(whose, "label").add(elide_middle(curve.source, max(12, width // 3)), "dim")


def _facts(view: View, curve: Curve) -> Iterator[Line]:
    """In the order of their worth."""
    newest = curve.points[-1]
    is_odd = not math.isfinite(newest.value)
    line = (
        Line("✖ " if is_odd else "", "bad")
        .add("now ", "label")
        .add(number(newest.value), "bad" if is_odd else "strong")
    )
    if newest.step is not None:
        line.add(" at step ", "label").add(units.count(newest.step))
    age_s = max(0.0, view.frame.derived.at_s - newest.at_s)
    yield line.add(", reported before hwtop started" if newest.is_past else f", {units.duration(age_s)} ago", "label")
    finite = [(point.value, point) for point in curve.points if math.isfinite(point.value)]
    if not finite:
        return
    trend = curve_view.trend(curve)
    if trend is not None:
        glyph, role = curve_view.direction(curve.name, trend.change)
        word = (
            f"{abs(100 * trend.change):.2g}% {'lower' if trend.change < 0 else 'higher'}" if trend.change else "steady"
        )
        fact = Line(f"{glyph} {word}", role).add(f" over {trend.count} values, median ", "label")
        yield fact.add(number(trend.middle))
    for word, (_, point) in (("lowest ", min(finite, key=itemgetter(0))), ("highest ", max(finite, key=itemgetter(0)))):
        fact = Line(word, "label").add(number(point.value))
        yield fact.add(f" at step {point.step:,}" if point.step is not None else "", "dim")


def _legend(curve: Curve, drawn: Plot) -> Iterator[Line]:
    """What the marks mean; nothing where there is none."""
    if drawn.odd:
        first = drawn.odd[0]
        at = f", the first at step {first.step:,}" if first.step is not None else ""
        yield Line("✖ ", "bad").add(f"{_count(len(drawn.odd), 'value')} nan or inf{at}", "text")
    if drawn.above:
        top = max(point.value for point in curve.points if math.isfinite(point.value))
        yield Line("▲ ", "warn").add(
            f"{_count(drawn.above, 'value')} above {number(drawn.y.high)}, up to {number(top)}"
        )
    if drawn.below:
        yield Line("▼ ", "warn").add(f"{_count(drawn.below, 'value')} below {number(drawn.y.low)}", "text")
    for step in drawn.restarts[-2:]:
        yield Line(f"{RESTART} ", "info").add(f"went on from step {step:,.0f}", "text")
    for event, step in drawn.events[-2:]:
        glyph, _, role = marks.SEVERITY[event.severity]
        yield Line(f"{glyph} ", role).add(f"{event.pattern} after step {step:,.0f}", "text")
    if not drawn.has_steps:
        yield Line("no step is reported with it: values in order of arrival", "dim")


def _count(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _rows(parts: Iterator[Line], width: int) -> list[Line]:
    """One after the other, in as many rows as they need."""
    rows: list[Line] = []
    for part in parts:
        if rows and rows[-1].width + len(_GAP) + part.width <= width:
            rows[-1].add(_GAP).extend(part)
        else:
            rows.append(Line().extend(part))
    return rows


def _undrawn(curve: Curve, leave: str | None, width: int) -> Iterator[Line]:
    """`leave`: the key that leaves the log scale it is on; None = it is on none."""
    has_numbers = any(math.isfinite(point.value) for point in curve.points)
    if leave is not None and has_numbers:
        yield (
            Line("◌ no value above 0: it cannot be drawn on a log scale, ", "dim")
            .add(leave, "key")
            .add(" leaves it", "dim")
        )
    elif not has_numbers:
        yield Line("✖ ", "bad").add("every value reported so far is nan or inf", "text")
    else:
        yield Line("◌ no room for a chart", "dim").fitted(width)


def _nothing(view: View, width: int) -> Iterator[Line]:
    """What hwtop follows, and how to make the training report more."""
    job = view.job
    yield Line("◌ ", "dim").add("No step or loss has been read from logs or metric files.", "strong")
    yield Line()
    if job is None:
        yield Line("no job", "dim")
        return
    yield from _followed(job, width)
    yield Line()
    for text in wrap("Print step and loss in any usual form, start hwtop with --logs GLOB, or add two lines:", width):
        yield Line(text, "text")
    yield Line()
    yield Line("  from hwtop import heartbeat", "accent")
    yield Line("  heartbeat(step=step, loss=loss.item())", "accent").add("   # in the training loop", "dim")


def _followed(job: Job, width: int) -> Iterator[Line]:
    read = [file for file in job.logs.files if file.reason is None]
    if not job.logs.files:
        yield Line("▲ ", "warn").add("hwtop follows no file: none is known", "text")
    if read:
        yield Line(f"hwtop follows {_count(len(read), 'file')}:", "label")
    for file in read[:_MOST_FILES]:
        age = f"  last written {units.duration(file.age_s)} ago" if file.age_s is not None else ""
        yield Line(f"  {elide_middle(file.path, max(12, width - len(age) - 2))}", "text").add(age, "dim")
    if len(read) > _MOST_FILES:
        yield Line(f"  and {len(read) - _MOST_FILES} more", "dim")
    for metrics in job.metrics.files[:_MOST_FILES]:
        yield Line("  and reads ", "label").add(elide_middle(metrics.path, max(12, width - 12)), "text")
    for reason in dict.fromkeys(file.reason for file in job.logs.files if file.reason):
        yield from wrapped(("▲ ", "warn"), reason, "text", width)
