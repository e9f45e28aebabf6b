"""Curves that rules see: recorded ones (tests/data/curves, made by the script there) and made ones."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.reported.log import Progress
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import derived, job, rank

FOLDER = Path(__file__).parents[1] / "data" / "curves"
NAMES: tuple[CurveName, ...] = ("loss", "lr", "grad_norm", "step_time_s", "throughput", "loss_scale")


def curve(name: CurveName, values: Sequence[float], *, every: int = 1, live: int = 0, **fields: Any) -> Curve:
    """One point each `every` steps; the newest `live` of them were told while hwtop watched, one a second until now."""
    count = len(values)
    points = tuple(
        CurvePoint((index + 1) * every, 1000.0 - (count - 1 - index), value, is_past=count - index > live)
        for index, value in enumerate(values)
    )
    return Curve(name=name, source="/logs/rank_0.log", rank=0, points=points, **fields)


def watched(*curves: Curve, total_steps: int | None = None, **fields: Any) -> History:
    """A job whose training told these."""
    losses = [point.value for each in curves if each.name == "loss" for point in each.points]
    progress = Progress(step=100, total_steps=total_steps, loss=losses[-1] if losses else 2.0)
    return History([derived(1000.0, job(rank(0, progress=progress), curves=curves), **fields)])


def recorded(name: str) -> dict[str, list[float]]:
    """Column -> values of a recorded run."""
    with (FOLDER / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def until(columns: dict[str, list[float]], count: int) -> History:
    """The job after its first `count` points, all told live and one a second."""
    curves = []
    for name in NAMES:
        if name in columns:
            points = tuple(
                CurvePoint(int(step), 1000.0 - (count - 1 - index), value)
                for index, (step, value) in enumerate(zip(columns["step"][:count], columns[name][:count], strict=True))
            )
            curves.append(Curve(name=name, source="/logs/rank_0.log", rank=0, points=points))
    return watched(*curves)
