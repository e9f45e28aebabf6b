"""The host page: is it the machine? The answer on top, below it everything about the host in as many columns as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec.structs import replace

from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.panels.host import block as host_block
from hwtop.ui.panels.host import cpu_block as host_cpu
from hwtop.ui.panels.host import memory_block as host_memory
from hwtop.ui.panels.host import others_block as host_others
from hwtop.ui.panels.host import tables as host_tables
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.panels.host.block import Block, packed
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line

_COLUMNS = ((66, 1), (145, 2), (240, 3))
"""Cells under which there are so many columns."""
_MOST = 4
_TRENDS = (
    *((22, 12), (20, 10), (18, 9), (16, 8), (14, 7), (12, 6), (10, 5), (8, 4), (6, 3), (6, 2)),
    *((10, 0), (8, 0), (6, 0), (4, 0), (2, 0)),
)
"""Rows of the trend of the CPU, and of those of pressure, memory, disks and network: the first that fit."""


Subject = Literal["cpu", "memory", "disk", "network"]
_PARTS: dict[Subject, tuple[Callable[[View, int], Block | None], ...]] = {
    "cpu": (host_cpu.processor, host_cpu.cores, host_others.others, host_cpu.pressure),
    "memory": (host_memory.memory, host_memory.limits),
    "disk": (host_tables.disks, host_tables.mounts),
    "network": (host_tables.network,),
}
"""In the order of the page; each is drawn for the narrowest column."""


def answer_rows(view: View, width: int) -> int:
    """Rows of the answer, frame included."""
    return 2 + len(_answer(view, inner(width)))


def draw_answer(view: View, width: int, height: int) -> list[Line]:
    """What is proven against the machine, then each of its parts in a word."""
    found = host_view.findings(view)
    border = "border-hot" if any(finding.severity == "critical" for finding in found) else "border"
    note = Line("┼", "track").add(" on a bar: its limit", "dim")
    return box(_answer(view, inner(width)), width, height, Line("Is it the machine?", "title"), note, border)


def draw(view: View, width: int, height: int) -> list[Line]:
    """All blocks, as far down as the person has scrolled; what is left of the room goes to the trend."""
    lines = _lines(view, width, height)
    first = max(0, min(view.scroll, len(lines) - height))
    shown = [line.fitted(width) for line in lines[first : first + height]]
    rest = len(lines) - first - height
    if rest > 0:
        shown[-1] = _more(view, rest, width)
    return shown


def hidden(view: View, width: int, height: int) -> int:
    """Rows out of sight."""
    return max(0, len(_lines(view, width, height)) - height)


def draw_subject(subject: Subject, view: View, width: int, height: int) -> list[Line]:
    """One part of the machine with the highest trends that leave everything of it in sight."""
    count = min(len(_PARTS[subject]), next((columns for cells, columns in _COLUMNS if width < cells), _MOST))
    room = inner(width // count)
    blocks = [block for part in _PARTS[subject] if (block := part(view, room)) is not None]
    parts: list[list[Block]] = []
    for rows in (*range(height - 4, 2, -1), 0):
        parts = host_block.columns([replace(block, rows=rows) for block in blocks], count)
        if parts and max(sum(block.height for block in part) for part in parts) <= height:
            break
    widths = [width // len(parts) + (number < width % len(parts)) for number in range(len(parts))]
    return [line.fitted(width) for line in host_block.drawn(parts, widths, height)[:height]]


def _more(view: View, rows: int, width: int) -> Line:
    return (
        Line(" ")
        .add(key_names.first("page-down", view.keymap), "key")
        .add(f" {rows + 1} more rows below", "label")
        .fitted(width)
    )


@once
def _answer(view: View, width: int) -> list[Line]:
    lines = []
    for finding in host_view.findings(view):
        glyph, word, role = marks.SEVERITY[finding.severity]
        lines.append(Line(f"{glyph} {word}  ", role).add(finding.title, "strong").fitted(width))
    if not lines:
        lines.append(_calm(view).fitted(width))
    return [*lines, *packed(_parts(view), width, gap=3)]


def _calm(view: View) -> Line:
    if view.job is None:
        return Line("● ", "info").add("no job is attached: only the machine is checked", "strong")
    line = Line("✔ ", "good").add("no fault of the machine is proven", "strong")
    count = len(view.frame.findings)
    if not count:
        return line
    line.add(f"; {count} finding{'s' * (count != 1)} about the job itself", "text")
    if key := key_names.first("symptoms", view.keymap):
        line.add(": ", "text").add(key, "key").add(" why", "label")
    return line


def _parts(view: View) -> Iterator[Line]:
    for part in host_view.parts(view):
        reported = Line(f"{part.glyph} ", part.role).add(f"{part.name} ", "label")
        yield reported.add(part.words, part.role if part.role in ("warn", "bad", "dim") else "text")


@once
def _lines(view: View, width: int, height: int) -> list[Line]:
    """With the tallest trends that leave everything in sight, else with the least."""
    count = next((columns for cells, columns in _COLUMNS if width < cells), _MOST)
    blocks = _blocks(view, width // count)
    parts: list[list[Block]] = []
    for first, others in _TRENDS:
        sized = [replace(block, rows=others if number else first) for number, block in enumerate(blocks)]
        parts = host_block.columns(sized, count)
        if max(sum(block.height for block in part) for part in parts) <= height:
            break
    widths = [width // len(parts) + (number < width % len(parts)) for number in range(len(parts))]
    return host_block.drawn(parts, widths, height)


def _blocks(view: View, width: int) -> list[Block]:
    room = inner(width)
    found = [part(view, room) for parts in _PARTS.values() for part in parts]
    return [block for block in (*found, host_tables.not_seen(view, room)) if block is not None]
