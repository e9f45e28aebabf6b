"""Panels by name, and the layout of the overview that the user may set.

A layout is a list of rows of names:

    "findings findings cpu"
    "gpu      gpu      memory"
    "ranks    ranks    network"

Each row spans the screen, its names share the width evenly, and a panel that is named several times covers all its cells, which
must form a rectangle. Rows can have different numbers of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import lcm

from msgspec import Struct

from hwtop.suggestion import did_you_mean

NAMES = (
    "findings",
    "gpu",
    "ranks",
    "logs",
    "host",
    "cpu",
    "memory",
    "disk",
    "network",
    "busiest",
    "cpu-page",
    "memory-page",
    "disk-page",
    "network-page",
    "rank-map",
    "rank-differ",
    "rank-card",
    "conclusion",
    "stack-tree",
    "stack",
    "flame",
    "flame-path",
    "log-context",
    "log-others",
    "curve-list",
    "curve",
    "gpu-list",
    "gpu-trends",
    "gpu-card",
    "gpu-topology",
    "gpu-processes",
    "gpu-missing",
    "processes",
    "host-answer",
    "host-page",
    "symptom-list",
    "symptom",
    "symptom-page",
    "suspects",
    "symptom-timeline",
    "fleet-map",
    "fleet-table",
    "fleet-card",
)
"""Every panel that can be hidden or placed; the verdict and the footer are always shown."""
_MOST_LINES, _MOST_WORDS = 40, 12


class Cells(Struct, frozen=True):
    """The cells of a panel: rows `top` to `bottom` and columns `left` to `right`, ends excluded."""

    top: int
    bottom: int
    left: int
    right: int


class Grid(Struct, frozen=True):
    """A parsed layout."""

    lines: int
    columns: int
    panels: dict[str, Cells]


def no_panels(names: Iterable[str]) -> str | None:
    """Which of these is not the name of a panel; None if all are."""
    for name in names:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES, f"panels are {', '.join(NAMES[:10])} and more")
            return f"no panel {name[:40]!r}: {hint}"
    return None


def no_drawing(drawing: tuple[str, ...]) -> str | None:
    """Why this is not a valid layout; None if it is."""
    try:
        parse(drawing)
    except ValueError as error:
        return str(error)
    return None


@lru_cache(maxsize=8)
def parse(drawing: tuple[str, ...]) -> Grid:
    """The grid of a layout.

    Raises:
        ValueError: an unknown name, cells that form no rectangle, too many rows or names; the message says which.
    """
    words = [line.split() for line in drawing]
    if len(words) > _MOST_LINES or any(not 0 < len(line) <= _MOST_WORDS for line in words):
        raise ValueError(f"a layout has at most {_MOST_LINES} rows of 1 to {_MOST_WORDS} panels")
    if problem := no_panels(name for line in words for name in line):
        raise ValueError(problem)
    columns = lcm(*map(len, words)) if words else 1
    rows = [[name for name in line for _ in range(columns // len(line))] for line in words]
    return Grid(len(rows), columns, {name: _cells(name, rows) for line in words for name in line})


def _cells(name: str, rows: Sequence[Sequence[str]]) -> Cells:
    held = [(y, x) for y, row in enumerate(rows) for x, other in enumerate(row) if other == name]
    lines, columns = [y for y, _ in held], [x for _, x in held]
    found = Cells(min(lines), max(lines) + 1, min(columns), max(columns) + 1)
    if len(held) != (found.bottom - found.top) * (found.right - found.left):
        raise ValueError(
            f"the cells of {name!r} do not form a rectangle: put it into the same columns of adjacent rows"
        )
    return found
