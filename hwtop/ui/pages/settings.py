"""The settings as lines. Pure; `screens/options.py` holds the view."""

from __future__ import annotations

from msgspec import Struct

from hwtop.config.settings import Setting
from hwtop.ui.settings import rows as settings_rows
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.widgets.box import PADDING, box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import around
from hwtop.ui.widgets.text import cells, elide_path, tail, visible, wrap

_WIDEST, _HIGHEST, _LOWEST = 110, 34, 14
_TOLD = 4
"""Rows below the list: what the setting means, what can be chosen."""
_BEFORE, _AFTER = "‹ ", "› "
"""In place of the tabs that have no room."""
_ORIGIN = 10
"""Cells of "not saved"."""
_VALUE_LEAST = 24
_LIST_LEAST = 3
_TITLES = 2
"""Rows above the list, inside the frame."""


class Frame(Struct, frozen=True):
    """Where all stands in a box of this size."""

    width: int
    height: int

    @property
    def reported(self) -> int:
        """Rows below the list, with the line between."""
        return max(0, min(_TOLD + 1, self.height - 2 - _TITLES - _LIST_LEAST))

    @property
    def rows(self) -> int:
        """Of the list."""
        return max(1, self.height - 2 - _TITLES - self.reported)


def size(view: SettingsView, width: int, height: int) -> tuple[int, int]:
    """Cells and rows of the box on a screen of this size: as many rows as the section has use for."""
    wanted = 2 + _TITLES + len(view.page.rows) + _TOLD + 1
    return min(_WIDEST, width), min(_HIGHEST, max(_LOWEST, wanted), height)


def draw(view: SettingsView, place: str, width: int, height: int) -> list[Line]:
    """The section in a box, the setting under the cursor in sight; `place` is the file."""
    at, room = Frame(width, height), inner(width)
    lines = [_tabs(view, room), Line(view.page.about, "dim").fitted(room)]
    rows = view.page.rows
    columns = _columns(view, room)
    shown = around(len(rows), at.rows, view.cursor)
    lines += [_row(view, rows[number], columns, room, is_here=number == view.cursor) for number in shown]
    lines += [Line()] * (at.rows - len(shown))
    lines += _reported(view, room, at.reported)
    title = Line("Settings", "title")
    if unsaved := len(view.changes):
        title.add(f"  {unsaved} not saved", "warn")
    note = Line(elide_path(visible(place), max(8, width - title.width - 12)), "dim")
    return box(lines, width, height, title, note)


def row_at(view: SettingsView, y: int, width: int, height: int) -> int | None:
    """The number of the setting in row `y` of the box."""
    shown = around(len(view.page.rows), Frame(width, height).rows, view.cursor)
    number = y - 1 - _TITLES
    return shown[number] if 0 <= number < len(shown) else None


def section_at(view: SettingsView, x: int, width: int) -> int | None:
    """The number of the section whose tab is at cell `x` of the box."""
    start = 1 + PADDING
    for number, name in enumerate(_names(view, inner(width))):
        if start <= x < start + cells(name):
            return number
        start += cells(name)
    return None


def _tabs(view: SettingsView, width: int) -> Line:
    line = Line()
    for number, name in enumerate(_names(view, width)):
        line.add(name, "tab-on" if number == view.section else "tab")
    return line.fitted(width)


def _names(view: SettingsView, width: int) -> list[str]:
    """Closer together where there is no room; else as many around the one that is shown as fit, with a mark for what is before or after."""
    names = [f"{section.name} " for section in settings_rows.sections()]
    if sum(map(cells, names)) + len(names) <= width:
        return [f" {name}" for name in names]
    first = last = view.section
    room = width - cells(names[first]) - cells(_BEFORE + _AFTER)
    for number in (*range(first + 1, len(names)), *range(first - 1, -1, -1)):
        room -= cells(names[number])
        if room < 0:
            break
        first, last = min(first, number), max(last, number)
    marks = {first - 1: _BEFORE, last + 1: _AFTER}
    return [name if first <= number <= last else marks.get(number, "") for number, name in enumerate(names)]


def _columns(view: SettingsView, width: int) -> tuple[int, int]:
    """Cells of the names and of the values."""
    wanted = max((cells(settings_rows.label(row)) for row in view.page.rows), default=0)
    longest = max((cells(settings_rows.shown(view.value(row))) for row in view.page.rows), default=0)
    left = width - 2 - _ORIGIN - 4
    names = min(wanted, max(left - 8, left * 3 // 5))
    return max(1, names), max(1, min(left - names, max(_VALUE_LEAST, longest + 4)))


def _row(view: SettingsView, setting: Setting, columns: tuple[int, int], width: int, *, is_here: bool) -> Line:
    names, values = columns
    value, origin = view.value(setting), view.origin(setting)
    line = Line("▸ " if is_here else "  ", "accent")
    line.extend(Line(settings_rows.label(setting), "strong" if is_here else "text").fitted(names)).add("  ")
    if is_here and view.typed is not None:
        return line.extend(_typed(view.typed, max(1, width - line.width)))
    text = settings_rows.shown(value) or "none"
    if is_here and setting.kind in ("choice", "switch"):
        text = f"‹ {text} ›"
    role = "text" if origin == "default" else "accent"
    line.extend(Line(text, "cursor" if is_here else role).fitted(min(values, cells(visible(text))))).extend(Line())
    line = line.fitted(2 + names + 2 + values)
    return line.add("  ").extend(
        Line(origin, {"default": "dim", "not saved": "warn"}.get(origin, "info")).fitted(_ORIGIN)
    )


def _typed(text: str, width: int) -> Line:
    return Line(tail(text, width - 1), "strong").add("▏", "accent").fitted(width)


def _reported(view: SettingsView, width: int, rows: int) -> list[Line]:
    """What the setting means, and what was said or can be done, which is never left out."""
    if rows <= 0:
        return []
    said = _said(view, width)[: max(1, rows - 1)]
    setting = view.here
    facts = [f"default: {settings_rows.shown(setting.default) or 'none'}"]
    facts.append("applies immediately" if view.holds_at_once(setting.path) else "applies at the next start")
    if setting.path in view.flags:
        facts.append(f"{view.flags[setting.path][0]} overrides the file")
    room = rows - 1 - len(said)
    lines = [Line(text, "text") for text in wrap(setting.about, width)][: max(1, room - 1)]
    lines = [*lines, Line("; ".join(facts), "dim")][: max(0, room)]
    lines = [Line("─" * width, "border"), *lines] if rows > 1 else []
    return [*lines, *([Line()] * (rows - len(said) - len(lines))), *said]


def _said(view: SettingsView, width: int) -> list[Line]:
    if view.wanted is not None:
        line = Line(" find: ", "key").extend(_typed(view.wanted, max(8, width - 50))).add("  ")
        return [line.add(view.note or "Tab the next one, Enter stays", "warn" if view.is_refused else "label")]
    if view.note:
        mark, role = ("▲ ", "warn") if view.is_refused else ("✔ ", "good")
        first, *more = wrap(view.note, max(1, width - 2)) or [""]
        return [Line(mark, role).add(first, "text"), *(Line(f"  {text}", "text") for text in more)]
    if view.typed is not None:
        return [_offered([("Enter", "takes it"), ("Esc", "leaves it as it was"), ("Ctrl-U", "empties")], width)]
    change = ("← →", "change") if view.here.kind in ("choice", "switch", "number") else ("Enter", "type")
    keys = [change, ("s", "save"), ("Esc", "close"), ("Tab", "section"), ("/", "find"), ("Del", "default")]
    return [_offered(keys, width)]


def _offered(keys: list[tuple[str, str]], width: int) -> Line:
    """As many as have room, the most useful ones."""
    line = Line()
    for key, word in keys:
        offer = Line(key, "key").add(f" {word}  ", "label")
        if line.width + offer.width <= width + 2:
            line.extend(offer)
    return line
