"""Curves: what the training told over its steps, for the curves page and the numeric symptoms."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

CurveName = Literal["loss", "lr", "grad_norm", "step_time_s", "throughput", "loss_scale", "reward"]


class CurvePoint(Struct, frozen=True, gc=False):
    """One told value."""

    step: int | None
    at_s: float
    """On the monotonic clock; when it was read, for what was written before hwtop attached."""
    value: float
    """May be nan or inf."""
    is_past: bool = False
    """Written before hwtop attached: `at_s` is not when it was told."""
    is_exact: bool = False
    """A value of 0 is 0: it is not written in digits that would round a small value to it."""
    labels: tuple[str, ...] = ()
    """Of a loss: other whole numbers of its line behind their names ("level 3"), which may say what task or stage it is of."""
    written_s: float | None = None
    """When its line says that it was written, in seconds since the start of the year by the clock of the line."""


class Curve(Struct, frozen=True, gc=False, kw_only=True):
    """One quantity over time, from one teller: the rank that tells most, or a metrics file."""

    name: CurveName
    unit: str = ""
    """Of throughput: "tokens/s" and the like; seconds and plain numbers have none."""
    source: str
    """Where it was read: the path of a log or metrics file, or "heartbeat of rank 0"."""
    rank: int | None = None
    is_mean: bool = False
    """Its values are means since the start of an epoch or of the run: they lag, and fall or jump where an epoch begins."""
    points: tuple[CurvePoint, ...] = ()
    """Oldest first, steps ascending within one run; thinned so that the whole run stays in at most 2,000 points."""
