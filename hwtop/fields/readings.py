"""Readings: all numbers of one moment, as exports name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from hwtop.fields.field import Field, Subject, Value
from hwtop.fields.registry import SUBJECTS
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame


class Reading(NamedTuple):
    """A number of one row, or a word out of `Field.choices`."""

    field: Field[Any]
    labels: Mapping[str, str]
    """Which row: {"rank": "3", "gpu": "3"}; empty for the host."""
    value: float | str


def readings(frame: Frame, subjects: Iterable[Subject[Any]] = SUBJECTS) -> Iterator[Reading]:
    """What is known at this moment. What is unknown is left out; so is free text, and what is a label."""
    for subject in subjects:
        measured = [each for each in subject.fields if each.name not in subject.labels and _is_measured(each)]
        for row in subject.rows(frame):
            given = {name: value(row) for name, value in subject.labels.items()}
            labels = {
                name: _label(value)
                for name, value in given.items()
                if value is not None or name not in subject.optional_labels
            }
            for field in measured:
                value = field.value(row)
                if value is not None and (isinstance(value, str) or isfinite(value)):
                    yield Reading(field, labels, value)


def _is_measured(field: Field[Any]) -> bool:
    return field.kind != "word" or bool(field.choices)


def _label(value: Value) -> str:
    return "" if value is None else visible(value) if isinstance(value, str) else f"{value:.0f}"
