"""Rows: which rank or GPU differs between two runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from hwtop.model.baseline import Difference, Level
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.baseline import difference
from hwtop.symptoms.runs.levels import MEASURES, levels_of_gpus, levels_of_ranks

RowKind = Literal["rank", "gpu"]


class RowDifference(NamedTuple):
    """One number of one rank or GPU in both runs."""

    kind: RowKind
    number: int
    difference: Difference


def compare_rows(then: History, now: History) -> tuple[RowDifference, ...]:
    """All numbers known of the same rank or GPU in both."""
    return (
        *_differences("rank", levels_of_ranks(then), levels_of_ranks(now)),
        *_differences("gpu", levels_of_gpus(then), levels_of_gpus(now)),
    )


def _differences(
    kind: RowKind, then: dict[int, dict[str, Level]], now: dict[int, dict[str, Level]]
) -> Iterator[RowDifference]:
    for measure in MEASURES:
        for number in then.keys() & now.keys():
            old, new = then[number].get(measure.name), now[number].get(measure.name)
            if old is not None and new is not None:
                yield RowDifference(kind, number, difference(measure, old, new))
