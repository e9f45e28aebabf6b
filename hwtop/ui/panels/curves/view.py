"""Which curves are in sight, on which scale, and what can be said of them in words. Pure; `curve.py` draws them."""

from __future__ import annotations

import math
from statistics import median

from msgspec import Struct

from hwtop.model.curve import Curve, CurveName
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.view import View

TITLES: dict[CurveName, str] = {
    "loss": "Loss",
    "grad_norm": "Gradient norm",
    "lr": "Learning rate",
    "step_time_s": "Step time",
    "throughput": "Throughput",
    "loss_scale": "Loss scale",
    "reward": "Reward",
}
"""In the order of the page."""
UNITS: dict[CurveName, str] = {"step_time_s": "s"}
FROM_ZERO: frozenset[CurveName] = frozenset({"grad_norm", "lr", "step_time_s", "throughput", "loss_scale"})
"""Their axis starts at 0, so that a steady one looks steady; a loss has no such bottom."""
_GOOD_WHEN_FALLING: frozenset[CurveName] = frozenset({"loss", "step_time_s"})
_GOOD_WHEN_RISING: frozenset[CurveName] = frozenset({"throughput", "reward"})
_WINDOW = 50
"""Newest values that are compared with as many before them; engineering default."""
_LEAST = 8
"""Values on each side, else nothing is said; engineering default."""
_CLEAR = 3.0
"""Standard errors of the difference of two medians from which on it is shown; engineering default."""
_SPREAD = 1.4826 * 1.2533
"""MAD -> standard deviation -> standard error of a median, both of a normal distribution."""


class Trend(Struct, frozen=True):
    """The newest values against as many before them."""

    count: int
    """Of each."""
    middle: float
    """Median of the newest."""
    change: float
    """Relative to the median before; 0 where the difference is within their noise."""


def curves(view: View) -> list[Curve]:
    """One of each name in the order of the page: of several sources the one that was asked for, else the longest."""
    found: list[Curve] = []
    state = view.state(CurvesState)
    for name in TITLES:
        reporters = sources(view, name)
        if reporters:
            found.append(reporters[state.source % len(reporters) if name == state.name else 0])
    return found


def sources(view: View, name: CurveName) -> list[Curve]:
    """All curves of this name, the one with the most points first."""
    reported = [curve for curve in (view.job.metrics.curves if view.job else ()) if curve.name == name and curve.points]
    return sorted(reported, key=lambda curve: -len(curve.points))


def selected(view: View) -> Curve | None:
    """The curve that is drawn large."""
    reported, name = curves(view), view.state(CurvesState).name
    return next((curve for curve in reported if curve.name == name), reported[0] if reported else None)


def trend(curve: Curve) -> Trend | None:
    """None while there are too few values."""
    values = [point.value for point in curve.points[-2 * _WINDOW :] if math.isfinite(point.value)]
    count = len(values) // 2
    if count < _LEAST:
        return None
    before, newest = values[-2 * count : -count], values[-count:]
    old, new = median(before), median(newest)
    noise = max(median(abs(value - old) for value in before), median(abs(value - new) for value in newest))
    is_clear = abs(new - old) > _CLEAR * _SPREAD * noise * math.sqrt(2 / count)
    return Trend(count=count, middle=new, change=(new - old) / abs(old) if is_clear and old else 0.0)


def direction(name: CurveName, change: float) -> tuple[str, str]:
    """(glyph, role) of a change: whether it is good depends on the quantity."""
    if not change:
        return "→", "dim"
    glyph = "↑" if change > 0 else "↓"
    if name in _GOOD_WHEN_FALLING | _GOOD_WHEN_RISING:
        return glyph, "good" if (change < 0) == (name in _GOOD_WHEN_FALLING) else "warn"
    return glyph, "text"


def sentence(view: View) -> str:
    """What the curves say, for the clipboard."""
    reported: list[str] = []
    for curve in curves(view):
        newest = curve.points[-1]
        at = f" at step {newest.step:,}" if newest.step is not None and not reported else ""
        reported.append(f"{TITLES[curve.name].lower()} {newest.value:.4g}{unit(curve)}{at}")
    return ", ".join(reported) or view.frame.verdict.text


def unit(curve: Curve) -> str:
    """With a blank before it: " s", " tokens/s", or nothing."""
    name = curve.unit or UNITS.get(curve.name, "")
    return f" {name}" if name else ""
