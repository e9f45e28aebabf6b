"""The cores: a bar each where they are few, else one block character each on a fixed scale; very many are summarised, never cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from hwtop.fields import units
from hwtop.fields.host import CORE
from hwtop.fields.level import Levels
from hwtop.job.rank_set import rank_set
from hwtop.model.host.cpu import CoreRates
from hwtop.ui import marks
from hwtop.ui.tables import cells
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap
from hwtop.ui.widgets.trend import blocks

_GROUP = 8
"""Cores between two gaps."""
_ROWS_MOST = 8
_METER = 20
"""Cells of the bar of one core, with its number and its percent, at least."""
_METER_ROWS = 4


def lines(cores: Sequence[CoreRates], levels: Levels, room: int) -> list[Line]:
    """The map with the number of the first core of each row, by NUMA node where there are several; then how many are full
    and which."""
    if not cores:
        return []
    nodes = _by_node(cores)
    if len(nodes) == 1 and (meters := _meters(cores, levels, room)):
        return [*meters, *_words(cores, levels, room)]
    digits = _digits(cores)
    per_row = _per_row(room - digits - 1)
    each = 1
    while len(cores) > each * per_row * _ROWS_MOST:
        each *= 2
    drawn: list[Line] = []
    for node, members in nodes.items():
        if len(nodes) > 1:
            busy = units.pct(fmean(core.util_pct for core in members))
            drawn.append(Line(f"NUMA node {node if node is not None else 'unknown'} ", "label").add(busy, "text"))
        drawn += _map(members, levels, per_row, each, digits)
    what = "▁ 0% to █ 100%" if each == 1 else f"▁ 0% to █ 100%, a block = the busiest of {each} cores"
    return [*drawn, *_words(cores, levels, room), *(Line(text, "dim") for text in wrap(what, room))]


def _meters(cores: Sequence[CoreRates], levels: Levels, room: int) -> list[Line]:
    """Bars, in rows from left to right; none where so few rows do not hold them."""
    columns = min(len(cores), max(1, room // _METER))
    if len(cores) > _METER_ROWS * columns:
        return []
    digits = _digits(cores)
    width = (room + 2) // columns - 2
    rows = [Line() for _ in range(-(-len(cores) // columns))]
    for at, core in enumerate(cores):
        row = rows[at // columns]
        row.add("  " if row.width else "").add(f"{_number(cores, at):>{digits}} ", "dim")
        number = cells.number(CORE, core, levels, "info")
        row.extend(bar(core.util_pct / 100, width - digits - 7, number.spans[0][1]))
        row.extend(number.fitted(6, "right"))
    return rows


def _by_node(cores: Sequence[CoreRates]) -> dict[int | None, list[CoreRates]]:
    found: dict[int | None, list[CoreRates]] = {}
    for core in cores:
        found.setdefault(core.node, []).append(core)
    return found


def _map(cores: Sequence[CoreRates], levels: Levels, per_row: int, each: int, digits: int) -> Iterator[Line]:
    role = partial(marks.role, CORE.level(cores[0], levels))
    heights = [max(core.util_pct for core in cores[at : at + each]) for at in range(0, len(cores), each)]
    for start in range(0, len(heights), per_row):
        row = Line(f"{_number(cores, start * each):>{digits}} ", "dim")
        for group in range(start, min(start + per_row, len(heights)), _GROUP):
            end = min(group + _GROUP, start + per_row)
            row.add(" " if group > start else "").extend(blocks(heights[group:end], 100, role))
        yield row


def is_full(core: CoreRates, levels: Levels) -> bool:
    """Worth a look, not an alarm; the height of its block says the same."""
    level = CORE.level(core, levels)
    return level is not None and level.alarm(core.util_pct) is not None


def _per_row(room: int) -> int:
    """As many groups as fit, a power of two of them, so that rows start at even numbers."""
    groups = 1
    while 2 * groups * (_GROUP + 1) - 1 <= room:
        groups *= 2
    # One and a half times as many start at even numbers too.
    return _GROUP * (groups * 3 // 2 if groups > 1 and groups * 3 // 2 * (_GROUP + 1) - 1 <= room else groups)


def _number(cores: Sequence[CoreRates], at: int) -> int:
    number = cores[at].number
    return at if number is None else number


def _digits(cores: Sequence[CoreRates]) -> int:
    """Of the highest number."""
    return len(str(max(_number(cores, at) for at in range(len(cores)))))


def _words(cores: Sequence[CoreRates], levels: Levels, room: int) -> list[Line]:
    full = [_number(cores, at) for at, core in enumerate(cores) if is_full(core, levels)]
    hottest = max(range(len(cores)), key=lambda at: cores[at].util_pct)
    line = Line(f"{len(full)} of {len(cores)} full", "text")
    if full and len(full) < len(cores):
        line.add(f": {rank_set(full)}", "text")
    elif not full:
        line.add(f", the busiest is core {_number(cores, hottest)}: {units.pct(cores[hottest].util_pct)}", "dim")
    return [line if line.width <= room else Line(f"{len(full)} of {len(cores)} full")]
