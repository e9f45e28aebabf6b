"""A curve as a chart: its runs as strokes, its axes, and what stands on the axis or lies beyond it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.log import LogEvent
from hwtop.ui import marks
from hwtop.ui.curve_view import FROM_ZERO, positions
from hwtop.ui.widgets.axis import Axis, growing, linear, logarithmic, robust
from hwtop.ui.widgets.chart import Mark, Stroke, chart
from hwtop.ui.widgets.line import Line

_ROWS_A_TICK, _CELLS_A_TICK = 4, 10
_FEW_TICKS = 3
"""Up to here the ends of the axis are its ticks."""
_ROWS_FOR_X = 7
"""From here on there is room for the steps."""
RESTART = "R"


@dataclass(frozen=True)
class Plot:
    """The chart and what to say below it."""

    lines: list[Line]
    has_steps: bool
    y: Axis
    above: int
    """Values over the top of the axis."""
    below: int
    odd: tuple[CurvePoint, ...]
    """Points that are no numbers."""
    restarts: tuple[float, ...]
    """Steps at which it went on from further back."""
    events: tuple[tuple[LogEvent, float], ...]
    """With the step at which each came."""


@dataclass(frozen=True)
class _Run:
    """Finite points between two restarts."""

    xs: list[float]
    ys: list[float]


def plot(
    curve: Curve,
    width: int,
    height: int,
    *,
    is_log: bool = False,
    events: Sequence[LogEvent] = (),
    gutter: int = 0,
) -> Plot | None:
    """In `height` rows of `width` cells. None where no value can be drawn."""
    points, has_steps = positions(curve)
    runs, odd = _runs(points, has_steps)
    values = [value for run in runs for value in run.ys if not is_log or value > 0]
    if not values or width < 12 or height < 2:
        return None
    low, high = robust(values)
    low = min(0.0, low) if curve.name in FROM_ZERO and not is_log else low
    most = max(2, height // _ROWS_A_TICK + 1)
    y = (
        logarithmic(low, high, most)
        if is_log
        else growing(low, high, most)
        if most > _FEW_TICKS
        else linear(low, high, 2)
    )
    first = min(run.xs[0] for run in runs)
    x = growing(first, max(run.xs[-1] for run in runs), max(2, width // _CELLS_A_TICK))
    restarts = tuple(run.xs[0] for run in runs[1:])
    told = _placed(points, events) if has_steps else ()
    on_axis = [Mark(_place(points, point, has_steps), "✖", "bad") for point in odd]
    on_axis += [Mark(step, *_glyph(event)) for event, step in told]
    on_axis += [Mark(step, RESTART, "info") for step in restarts]
    strokes = list(_strokes(runs, is_log))
    has_x = height >= _ROWS_FOR_X
    lines = chart(strokes, x, y, width, height, marks=on_axis, gutter=gutter, has_x=has_x)
    return Plot(
        lines=lines,
        has_steps=has_steps,
        y=y,
        above=sum(value > y.high for value in values),
        below=sum(value < y.low for value in values),
        odd=tuple(odd),
        restarts=restarts,
        events=told,
    )


def _place(points: Sequence[CurvePoint], point: CurvePoint, has_steps: bool) -> float:
    return float(point.step or 0) if has_steps else float(points.index(point) + 1)


def _runs(points: Sequence[CurvePoint], has_steps: bool) -> tuple[list[_Run], list[CurvePoint]]:
    """The runs, oldest first, and the points that are no numbers."""
    odd = [point for point in points if not math.isfinite(point.value)]
    runs: list[_Run] = []
    xs: list[float] = []
    ys: list[float] = []
    last = -math.inf
    for number, point in enumerate(points, 1):
        place = point.step if has_steps and point.step is not None else number
        if place < last and xs:
            runs.append(_Run(xs, ys))
            xs, ys = [], []
        last = place
        if math.isfinite(point.value):
            xs.append(place)
            ys.append(point.value)
    return ([*runs, _Run(xs, ys)] if xs else runs), odd


def _strokes(runs: Sequence[_Run], is_log: bool) -> Iterator[Stroke]:
    """What a later run did once more stands back."""
    for index, run in enumerate(runs):
        again = min((later.xs[0] for later in runs[index + 1 :]), default=math.inf)
        pairs = [(x, y) for x, y in zip(run.xs, run.ys, strict=True) if y > 0] if is_log else None
        xs = [x for x, _ in pairs] if pairs is not None else run.xs
        ys = [y for _, y in pairs] if pairs is not None else run.ys
        cut = bisect_left(xs, again)
        yield Stroke(xs[cut:], ys[cut:], "faint-good", "track")
        yield Stroke(xs[:cut], ys[:cut], "accent", "dim")


def _placed(points: Sequence[CurvePoint], events: Sequence[LogEvent]) -> tuple[tuple[LogEvent, float], ...]:
    """Warnings and errors that came while hwtop watched, each with the last step told before it."""
    live = [point for point in points if not point.is_past and point.step is not None]
    if not live:
        return ()
    times = [point.at_s for point in live]
    placed = []
    for event in events:
        if event.is_past or event.severity == "info" or event.at_s < times[0]:
            continue
        placed.append((event, float(live[max(0, bisect_left(times, event.at_s + 1e-6) - 1)].step or 0)))
    return tuple(placed)


def _glyph(event: LogEvent) -> tuple[str, str]:
    glyph, _, role = marks.SEVERITY[event.severity]
    return glyph, role
