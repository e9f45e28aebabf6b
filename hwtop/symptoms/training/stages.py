"""Stages: a number of the loss's lines that rests and then changes says that another task begins (a level, a length, a phase)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import median

from msgspec import Struct

from hwtop.model.curve import CurvePoint
from hwtop.symptoms.training.series import Series

_RESTS = 5
"""Values of a stage: a number that changes sooner counts something. Engineering default."""
_INNER_SHARE = 0.3
"""Of a rise: as little of it within the stages comes with the changes. Engineering default."""


class Stage(Struct, frozen=True):
    """Points in a row with the same number."""

    name: str
    number: str
    begin: int
    end: int
    """Index behind the last point."""


def new_stage(series: Series, at: int) -> str | None:
    """Words for the stage that begins at this point or next to it; None where none does."""
    for stages in _stages(series.points):
        for before, stage in pairwise(stages):
            if abs(stage.begin - at) <= 1:
                return (
                    f"{stage.name} changed there from {before.number} to {stage.number}: another task or stage begins"
                )
    return None


def rises_with_stages(series: Series, begin: int) -> tuple[Stage, Stage] | None:
    """The first and the last of the stages with which the loss rises after this point; None where it rises within them too."""
    logs = [log(value) for value in series.values]
    for stages in _stages(series.points):
        later = [stage for stage in stages if stage.end - begin > _RESTS]
        inner = sum(_rise(logs[max(begin, stage.begin) : stage.end]) for stage in later)
        if len(later) > 1 and inner <= _INNER_SHARE * (median(logs[-_RESTS:]) - median(logs[begin : begin + _RESTS])):
            return later[0], later[-1]
    return None


def _rise(logs: Sequence[float]) -> float:
    width = min(_RESTS, max(1, len(logs) // 2))
    return median(logs[-width:]) - median(logs[:width])


def _stages(points: Sequence[CurvePoint]) -> list[list[Stage]]:
    """Of each number that is on all lines, rests and changes."""
    names = dict.fromkeys(label.rpartition(" ")[0] for label in points[-1].labels) if points else {}
    found = (_stages_of(name, points) for name in names)
    return [
        stages for stages in found if len(stages) > 1 and all(each.end - each.begin >= _RESTS for each in stages[:-1])
    ]


def _stages_of(name: str, points: Sequence[CurvePoint]) -> list[Stage]:
    numbers = [_number(name, point) for point in points]
    edges = [0, *(index for index in range(1, len(numbers)) if numbers[index] != numbers[index - 1]), len(numbers)]
    if len(numbers) < _RESTS * (len(edges) - 2) or None in numbers:
        return []
    return [Stage(name, numbers[begin] or "", begin, end) for begin, end in pairwise(edges)]


def _number(name: str, point: CurvePoint) -> str | None:
    return next((label[len(name) + 1 :] for label in point.labels if label.startswith(f"{name} ")), None)
