"""A curve as a chart: its runs as strokes, its axes, and what stands on the axis or lies beyond it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.reported.log import LogEvent
from hwtop.ui import marks
from hwtop.ui.panels.curves.view import FROM_ZERO
from hwtop.ui.widgets.axis import Axis, growing, linear, logarithmic, robust
from hwtop.ui.widgets.chart import Mark, Stroke, chart
from hwtop.ui.widgets.line import Line

_ROWS_A_TICK, _CELLS_A_TICK = 4, 10
_FEW_TICKS = 3
"""Up to here the ends of the axis are its ticks."""
_ROWS_FOR_X = 7
"""From here on there is room for the steps."""
RESTART = "R"
_SAME = 1e-9


class Plot(Struct, frozen=True):
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
    """The first of each kind, with the step at which it came."""


class _Run(Struct, frozen=True):
    """Finite points between two restarts."""

    xs: Sequence[float]
    ys: Sequence[float]


_Key = tuple[int, int, bool, int, tuple[tuple[str, float], ...]]
"""Width, height, log scale, cells for labels, events."""


class _Data(Struct, frozen=True):
    """A curve made ready to be drawn at any size."""

    has_steps: bool
    runs: tuple[_Run, ...]
    ordered: list[float]
    """All finite values, ascending."""
    odd: tuple[tuple[float, CurvePoint], ...]
    """Points that are no numbers, with their place on the horizontal axis."""
    live: tuple[CurvePoint, ...]
    """Told with a step while hwtop watched."""
    plots: dict[_Key, Plot]
    """What has been drawn of it."""


_KEPT = 64
_made: dict[int, tuple[Curve, _Data]] = {}
"""By identity: a curve is drawn small and large, and again with each frame and key until a new value is reported."""


def _data(curve: Curve) -> _Data:
    known = _made.get(id(curve))
    if known is not None and known[0] is curve:
        return known[1]
    if len(_made) >= _KEPT:
        _made.clear()
    data = _prepared(curve.points)
    _made[id(curve)] = curve, data
    return data


def _prepared(points: Sequence[CurvePoint]) -> _Data:
    """The horizontal axis is the step, or where few points have one, their number."""
    with_step = [point for point in points if point.step is not None]
    has_steps = 2 * len(with_step) >= len(points)
    shown = with_step if has_steps else points
    xs: list[float] = [point.step or 0 for point in shown] if has_steps else list(range(1, len(shown) + 1))
    ys = [point.value for point in shown]
    odd: list[tuple[float, CurvePoint]] = []
    if not all(map(math.isfinite, ys)):
        odd = [(x, point) for x, point in zip(xs, shown, strict=True) if not math.isfinite(point.value)]
        finite = [(x, y) for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]
        xs, ys = [x for x, _ in finite], [y for _, y in finite]
    cuts = [0, *(at for at in range(1, len(xs)) if xs[at] < xs[at - 1]), len(xs)] if xs != sorted(xs) else [0, len(xs)]
    return _Data(
        has_steps=has_steps,
        runs=tuple(_Run(xs[start:end], ys[start:end]) for start, end in pairwise(cuts) if start < end),
        ordered=sorted(ys),
        odd=tuple(odd),
        live=tuple(point for point in with_step if not point.is_past),
        plots={},
    )


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
    data = _data(curve)
    values = data.ordered[bisect_right(data.ordered, 0.0) :] if is_log else data.ordered
    if not values or width < 12 or height < 2:
        return None
    reported = _placed(data.live, events)
    key = width, height, is_log, gutter, tuple((event.pattern, step) for event, step in reported)
    if key not in data.plots:
        data.plots[key] = _plotted(curve, data, values, reported, key)
    return data.plots[key]


def _plotted(
    curve: Curve, data: _Data, values: Sequence[float], reported: tuple[tuple[LogEvent, float], ...], key: _Key
) -> Plot:
    width, height, is_log, gutter, _ = key
    y = _vertical(curve, values, height, is_log)
    odd = [place for place, _ in data.odd]
    first, last = min([*odd, *(run.xs[0] for run in data.runs)]), max([*odd, *(run.xs[-1] for run in data.runs)])
    x = growing(first, last, max(2, width // _CELLS_A_TICK))
    restarts = tuple(run.xs[0] for run in data.runs[1:])
    on_axis = [Mark(place, "✖", "bad") for place in odd]
    on_axis += [Mark(step, *_glyph(event)) for event, step in reported]
    on_axis += [Mark(step, RESTART, "info") for step in restarts]
    lines = chart(
        list(_strokes(data.runs, is_log)),
        x,
        y,
        width,
        height,
        marks=on_axis,
        gutter=gutter,
        has_x=height >= _ROWS_FOR_X,
        x_name="step" if data.has_steps else "value",
    )
    return Plot(
        lines=lines,
        has_steps=data.has_steps,
        y=y,
        above=len(values) - bisect_right(values, y.high * (1 + _SAME)),
        below=bisect_left(values, y.low - abs(y.low) * _SAME),
        odd=tuple(point for _, point in data.odd),
        restarts=restarts,
        events=reported,
    )


def _vertical(curve: Curve, values: Sequence[float], height: int, is_log: bool) -> Axis:
    low, high = robust(values, from_zero=curve.name in FROM_ZERO and not is_log)
    most = max(2, height // _ROWS_A_TICK + 1)
    if is_log:
        return logarithmic(low, high, most)
    return growing(low, high, most) if most > _FEW_TICKS else linear(low, high, 2)


def _strokes(runs: Sequence[_Run], is_log: bool) -> Iterator[Stroke]:
    """What a later run did once more stands back."""
    for index, run in enumerate(runs):
        again = min((later.xs[0] for later in runs[index + 1 :]), default=math.inf)
        xs, ys = run.xs, run.ys
        if is_log and min(ys) <= 0:
            pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if y > 0]
            xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
        cut = bisect_left(xs, again)
        yield Stroke(xs[cut:], ys[cut:], "faint-good", "track")
        yield Stroke(xs[:cut], ys[:cut], "info", "dim")


def _placed(live: Sequence[CurvePoint], events: Sequence[LogEvent]) -> tuple[tuple[LogEvent, float], ...]:
    """The first of each kind of warning and error that came while hwtop watched, with the last step reported before it."""
    if not live or not events:
        return ()
    times = [point.at_s for point in live]
    placed: dict[str, tuple[LogEvent, float]] = {}
    for event in events:
        if event.is_past or event.severity == "info" or event.at_s < times[0] or event.pattern in placed:
            continue
        placed[event.pattern] = event, float(live[max(0, bisect_left(times, event.at_s + 1e-6) - 1)].step or 0)
    return tuple(placed.values())


def _glyph(event: LogEvent) -> tuple[str, str]:
    glyph, _, role = marks.SEVERITY[event.severity]
    return glyph, role
