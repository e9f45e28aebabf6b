"""Frames whose training told curves of one kind or another."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.frame import Frame
from hwtop.model.reported.log import LogEvent
from tests import frames
from tests.parts import replace

AT_S = 1_000.0 + frames.SECONDS - 1
"""The time of the frame."""
LOG = "/scratch/runs/42/logs/rank_0.log"


def curve(
    name: CurveName,
    reported: Iterable[tuple[int | None, float]],
    *,
    source: str = LOG,
    is_past: bool = False,
    unit: str = "",
) -> Curve:
    """One value a second, the last one now."""
    pairs = list(reported)
    points = tuple(
        CurvePoint(step=step, at_s=AT_S - (len(pairs) - 1 - index), value=value, is_past=is_past)
        for index, (step, value) in enumerate(pairs)
    )
    return Curve(name=name, unit=unit, source=source, rank=0, points=points)


def with_curves(*curves: Curve, events: tuple[LogEvent, ...] = ()) -> Frame:
    """A healthy job that told these."""
    frame = frames.healthy()
    assert frame.derived.job is not None
    job = replace(frame.derived.job, curves=curves, events=events)
    return replace(frame, derived=replace(frame.derived, job=job))


def broken() -> Frame:
    """A loss with a first value far above all others, an old spike, a restart from step 300, and nan at the end."""
    before = [(step, 2.0 + 100.0 * (step == 0) + 40.0 * (step == 200) + 1.5 * 0.99**step) for step in range(500)]
    after = [(step, 2.0 + 1.4 * 0.99**step) for step in range(300, 700)]
    odd = [(step, float("nan")) for step in range(700, 712)]
    event = LogEvent(
        pattern="loss-nan",
        severity="critical",
        role="root",
        path=LOG,
        line_no=712,
        text="iter 700: loss nan",
        at_s=AT_S - 11,
        is_past=False,
        explanation="the loss is not a number",
    )
    return with_curves(
        curve("loss", [*before, *after, *odd]),
        curve("lr", [(step, 3e-4) for step in range(0, 712, 10)]),
        events=(event,),
    )
