"""The help: every key by the page that it belongs to, the filter language and the symptoms, as far as they have what is typed.
Pure; `screens/help.py` holds what is typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hwtop.fields.gpu import GPU
from hwtop.fields.node import NODE
from hwtop.fields.process import PROCESS
from hwtop.fields.rank import RANK
from hwtop.symptoms.records import records
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.action import Action
from hwtop.ui.pages import actions
from hwtop.ui.pages.registry import NAMES, current
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, beside
from hwtop.ui.widgets.text import cells, tail, wrap

_FILTERS = (
    ("gpu=3  rank=0-3,7", "A number, ranges, a list; rank=none: those without"),
    ("cpu>80  mem>2G", "More, less (<), at least (>=); sizes in K M G T"),
    ("ago>30s  step<100", "Times in s m h d, counts in k m"),
    ("state=D  phase=data", "A part of the word, or the letter of a process state"),
    ("cmd~data  user=ada", "A part of the command line; of another field's text"),
    ("rank=2 loss", "In logs: lines of these ranks that have the text"),
    ("word  !word  !gpu=3", "Text of the row; ! leaves out (in logs one word)"),
    ('"a b"', "Blanks, and = < > as text"),
)
_FILTER_TITLE = "Filters of nodes, ranks, processes, GPUs (all terms must match)"
_FIELDS = "Fields of filters and orders"
_KEYS, _COLUMN = 20, 54
"""Cells of the keys of a row, and the least of a column where several stand side by side."""
_NARROW, _FEW = 70, 16
"""Columns of less cells give their keys less."""
_WIDEST = 84
"""Of one column: longer rows are hard to follow."""
_GAP = 2
_SUBSTRING = 3
"""Letters from which a part of a word is looked for, not only its beginning."""


class Row(Struct, frozen=True):
    """One line of help."""

    keys: str
    text: str
    words: str = ""
    """By which it is found, too."""
    is_possible: bool = True


class Help(Struct, frozen=True):
    """What the screen shows."""

    lines: list[Line]
    width: int
    height: int
    most: int
    """How far it can be scrolled, in lines."""


def draw(view: View | None, size: tuple[int, int], typed: str = "", scroll: int = 0) -> Help:
    """The help in a box on a screen of `size` cells and rows, from line `scroll` on. `view` is None before the first look."""
    count = max(1, min(3, (size[0] - 6) // (_COLUMN + _GAP)))
    width = min(size[0], _WIDEST) if count == 1 else size[0] - 2
    column = (inner(width) - _GAP * (count - 1)) // count
    every = groups(view)
    lines, _ = _lines(every, column, "")
    room = max(1, size[1] - 3)
    rows = next((rows for rows in range(1, room) if _end(lines, rows, count) >= len(lines)), room)
    lines, found = _lines(every, column, typed)
    if len(lines) <= rows and typed:
        count, column = 1, inner(width)
        lines, found = _lines(every, column, typed)
    most = 0 if _end(lines, rows, count) >= len(lines) else _last_start(lines, rows, count)
    scroll = max(0, min(scroll, most))
    columns, end = _flowed(lines, rows, count, scroll)
    head = _head(typed, found, inner(width))
    note = Line("Esc", "key").add(" clears" if typed else " closes", "label")
    if most:
        note = Line("↓ ↑", "key").add(f" {table.part(range(scroll, end), len(lines))}  ", "label").extend(note)
    body = beside([(part, column) for part in columns], _GAP)
    height = min(size[1], rows + 3)
    return Help(box([head, *body], width, height, Line("Help", "title"), note), width, height, most)


def groups(view: View | None) -> list[tuple[str, list[Row]]]:
    """What can be done here, then everywhere, then on each other page; filters and symptoms last."""
    keymap = actions.complete(view.keymap if view else {})
    here = None if view is None or view.is_picking else current(view)
    offered = [action for action in actions.every() if view is None or actions.is_offered(action, view)]
    ours = f"Here: {here.name if here else 'no job yet'}"
    found: dict[str, list[Row]] = {ours: [], "Everywhere": []}
    for page in NAMES:
        found[f"On {page}"] = []
    for action in offered:
        pages = actions.homes(action)
        is_possible = view is None or actions.is_possible(action, view)
        is_here = here.has(action.id) if here else is_possible
        group = ours if is_here else f"On {pages[0]}" if pages else "Everywhere"
        found[group].append(_row(action, key_names.shown(action.id, keymap), is_possible))
    filters = [Row(example, words, "filter language") for example, words in _FILTERS]
    filters.append(
        Row(
            "fields",
            " ".join(dict.fromkeys((*RANK.named(), *PROCESS.named(), *GPU.named(), *NODE.named()))),
            "filter language column",
        )
    )
    found[_FILTER_TITLE] = filters
    found[_FIELDS] = [
        Row(field.name, f"{field.about} ({subject.title.lower()})", "filter sort order column field")
        for subject in (RANK, PROCESS, GPU, NODE)
        for field in subject.fields
        if field.name
    ]
    found["Symptoms"] = [
        Row(name, known.title, f"symptom finding explain {known.category} {known.meaning}")
        for name, known in records().items()
    ]
    return [(title, rows) for title, rows in found.items() if rows]


def matches(row: Row, group: str, typed: str) -> bool:
    """Whether each word that is typed is a key of the row, or begins (from three letters on: is in) a word of it."""
    text = f"{row.keys} {row.text} {row.words} {group}".casefold()
    for word in typed.split():
        small = word.casefold()
        is_there = small in text if len(word) >= _SUBSTRING else any(part.startswith(small) for part in text.split())
        if word not in row.keys.split() and not (is_there and len(word) > 1):
            return False
    return True


def _row(action: Action, shown: str, is_possible: bool) -> Row:
    text = action.tooltip
    name = action.description[:1].upper() + action.description[1:]
    if action.id in NAMES and not text.startswith(name):
        text = f"{name}: {text}"
    return Row(shown, text, f"{action.description} {action.words} {action.id.replace('-', ' ')} key", is_possible)


def _lines(found: Sequence[tuple[str, list[Row]]], width: int, typed: str) -> tuple[list[Line], int]:
    """The rows that are found under their titles, and how many they are. Without a search fields and symptoms stay away."""
    lines: list[Line] = []
    count = 0
    for title, rows in found:
        if title in ("Symptoms", _FIELDS) and not typed.strip():
            continue
        kept = [row for row in rows if matches(row, title, typed)]
        count += len(kept)
        if kept:
            lines += [Line()] if lines else []
            lines.append(Line(title, "title"))
        for row in kept:
            lines += _drawn(row, width, typed)
    return lines, count


def _drawn(row: Row, width: int, typed: str) -> Iterator[Line]:
    """Keys with what they do beside them, or below where they are long."""
    key_role, role = ("key", "text") if row.is_possible else ("dim", "dim")
    room = _KEYS if width >= _NARROW else _FEW
    is_beside = cells(row.keys) < room
    if not is_beside:
        yield Line(f"  {row.keys}", key_role)
    for number, piece in enumerate(wrap(row.text, max(10, width - room - 3))):
        head = Line(f"  {row.keys}" if is_beside and number == 0 else "", key_role).fitted(room + 2)
        yield head.extend(_marked(piece, typed, role))


def _marked(text: str, typed: str, role: str) -> Line:
    """`text` with the first place of each typed word marked."""
    spots = [False] * len(text)
    folded = text.casefold()
    for word in typed.split():
        at = folded.find(word.casefold()) if len(word) > 1 and len(folded) == len(text) else -1
        if at >= 0:
            spots[at : at + len(word)] = [True] * len(word)
    line = Line()
    for character, is_hit in zip(text, spots, strict=True):
        line.add(character, "hit" if is_hit else role)
    return line


def _head(typed: str, found: int, width: int) -> Line:
    if not typed:
        return Line("type to search: ", "label").add("a key, a word, a filter, a symptom", "dim").fitted(width)
    count = Line(f" {found} found" if found else " nothing found: try a shorter word", "label" if found else "warn")
    return Line("search: ", "label").add(tail(typed, width - 40), "strong").add("▏", "accent").extend(count)


def _flowed(lines: list[Line], rows: int, count: int, first: int) -> tuple[list[list[Line]], int]:
    """Columns as in a newspaper, and the line after the last. No column starts with a blank or within a row, or ends with a title."""
    columns = []
    for _ in range(count):
        while first < len(lines) and not lines[first].spans:
            first += 1
        whole = end = min(len(lines), first + rows)
        while end < len(lines) and end > first and (_goes_on(lines[end]) or _is_title(lines[end - 1])):
            end -= 1
        end = whole if end == first else end
        columns.append(lines[first:end])
        first = end
    return columns, first


def _goes_on(line: Line) -> bool:
    """Does it belong to the row above it? The first line of a row has its keys in front."""
    return line.text.startswith("   ")


def _is_title(line: Line) -> bool:
    return bool(line.spans) and line.spans[0][1] == "title"


def _end(lines: list[Line], rows: int, count: int, first: int = 0) -> int:
    return _flowed(lines, rows, count, first)[1]


def _last_start(lines: list[Line], rows: int, count: int) -> int:
    """The first line from which the rest fits."""
    return next(first for first in range(len(lines)) if _end(lines, rows, count, first) >= len(lines))
