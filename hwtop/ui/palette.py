"""The palette: everything that can be done, by name, and what of it is meant by what is typed. Pure; `screens/palette.py`
holds what is typed and the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.action import Action
from hwtop.ui.pages import actions
from hwtop.ui.pages.registry import NAMES, current, turned
from hwtop.ui.panels import picker
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.tables.fuzzy import match
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_end, tail

_LIST, _WIDEST, _HIGHEST = 30, 88, 26
"""Most cells of a name; cells and rows of the whole."""
_ABOUT_FAR = 12.0
"""A match in what an entry is about counts as this far away: names go first."""


class Entry(Struct, frozen=True):
    """One thing to do: look somewhere, then perhaps run an action; or apply a theme."""

    label: str
    about: str
    keys: str = ""
    words: str = ""
    """By which it is found, without being shown."""
    look: Callable[[View], View] | None = None
    action: str = ""
    theme: str = ""


Found = tuple[Entry, tuple[int, ...]]
"""An entry and the characters of its label that were typed."""


def entries(view: View | None, themes: Sequence[str]) -> list[Entry]:
    """What can be done on this page first, then findings, pages, ranks, GPUs, all else, and the looks in `themes`."""
    if view is None:
        return list(_themes(themes))
    view = actions.with_keys(view)
    offered = [each for each in actions.every() if each.is_listed and actions.is_offered(each, view)]
    if view.is_picking:
        possible = (_of_key(each, view) for each in offered if actions.is_possible(each, view))
        return [*_jobs(view), *possible, *_themes(themes)]
    here = [each for each in offered if current(view).has(each.id)]
    pages = [each for each in offered if each.id in NAMES and each not in here]
    rest = [each for each in offered if each not in here and each not in pages]
    return [
        *(_of_key(each, view) for each in here),
        *_findings(view),
        *(_of_key(each, view) for each in pages),
        *_ranks(view),
        *_gpus(view),
        *(_of_key(each, view) for each in rest),
        *_themes(themes),
    ]


def found(all_: Sequence[Entry], typed: str) -> list[Found]:
    """Those that have what is typed, the closest first; where nothing is, all of them."""
    scored = []
    for place, entry in enumerate(all_):
        near = match(typed, entry.label)
        far = match(typed, f"{entry.label} {entry.about} {entry.words} {entry.keys}") if near is None else None
        if typed.strip() and typed.strip() in entry.keys.split():
            scored.append((0.5, place, (entry, near[1] if near else ())))
        elif near is not None:
            scored.append((near[0], place, (entry, near[1])))
        elif far is not None:
            scored.append((far[0] + _ABOUT_FAR, place, (entry, ())))
    return [item for _, _, item in sorted(scored, key=lambda each: each[:2])]


def draw(shown: Sequence[Found], cursor: int, typed: str, size: tuple[int, int]) -> tuple[list[Line], int, int]:
    """The box on a screen of `size` cells and rows: its lines, its cells and rows. Its size does not hang on what is found."""
    width = min(size[0], max(min(size[0] - 4, _WIDEST), 40))
    height = min(size[1], max(min(size[1] - 2, _HIGHEST), 6))
    room = inner(width)
    head = Line(":", "key").add(tail(typed, room - 4), "strong").add("▏", "accent")
    if not typed:
        head.add(" a command, page, theme, rank 3, gpu 0, explain …", "dim")
    lines = [head.fitted(room), Line()]
    if not shown:
        lines.append(Line("nothing by this name: Esc leaves, ? lists all keys", "warn"))
    column = min(_LIST, room // 3)
    for index in rows(len(shown), cursor, height):
        line = _row(shown[index], room, column, is_chosen=index == cursor)
        lines.append(Line(line.text, "cursor") if index == cursor else line)
    note = Line(f"{len(shown)}  ", "accent").add("Enter", "key").add(" runs  ", "label").add("Esc", "key")
    return box(lines, width, height, Line("Commands", "title"), note.add(" leaves", "label")), width, height


def rows(count: int, cursor: int, height: int) -> range:
    """Which of `count` entries stand in a box of `height` rows."""
    return table.around(count, max(1, height - 4), cursor)


def _row(item: Found, room: int, column: int, *, is_chosen: bool) -> Line:
    entry, places = item
    label = elide_end(entry.label, column)
    line = Line("▸ " if is_chosen else "  ", "accent")
    for place, character in enumerate(label):
        line.add(character, "accent" if place in places else "strong")
    keys_ = Line(entry.keys, "key")
    line = line.fitted(column + 4)
    left = room - line.width - keys_.width - 1
    return line.add(elide_end(entry.about, max(0, left)), "text").fitted(room - keys_.width).extend(keys_)


def _of_key(action: Action, view: View) -> Entry:
    """An action; one that belongs to other pages leads to the first of them."""
    homes = actions.homes(action)
    look = partial(_at_page, homes[0]) if homes and not actions.is_possible(action, view) else None
    label = f"page {action.description}" if action.id in NAMES else action.description
    keys = key_names.shown(action.id, view.keymap)
    return Entry(label, action.tooltip, keys, action.words, look, actions.call(action))


def _at_page(page: str, view: View) -> View:
    return turned(view, page)


def _findings(view: View) -> Iterator[Entry]:
    for finding in view.frame.findings:
        name = finding.symptom
        mark, word, _ = marks.SEVERITY[finding.severity]
        yield Entry(
            f"explain {name}",
            f"{mark} {word.lower()}: {finding.title}",
            look=lambda view, name=name: turned(view.with_state(SymptomsState(name)), "symptoms"),  # type: ignore[misc]
        )


def _ranks(view: View) -> Iterator[Entry]:
    for rank in view.ranks:
        glyph, _ = marks.RANK_STATE[rank.state]
        yield Entry(
            f"rank {rank.rank}",
            f"{glyph} {rank.state}, PID {rank.pid}",
            look=lambda view, rank=rank.rank: current(view).rank_selected(replace(view, selected=rank)),  # type: ignore[misc]
        )


def _gpus(view: View) -> Iterator[Entry]:
    for gpu in (row.gpu for row in gpu_view.rows(view)):
        yield Entry(
            f"gpu {gpu.index}",
            gpu.name or "",
            look=lambda view, index=gpu.index: turned(view.with_state(GpuState(index)), "gpu"),  # type: ignore[misc]
        )


def _jobs(view: View) -> Iterator[Entry]:
    for job in picker.candidates(view):
        yield Entry(
            f"attach {job.pid}",
            job.title,
            look=partial(_at_job, job.pid),
            action="choose",
        )


def _at_job(pid: int, view: View) -> View:
    """With the cursor on this job, wherever it stands in the list by now."""
    places = [place for place, job in enumerate(picker.candidates(view)) if job.pid == pid]
    return picker.moved_to(view, places[0]) if places else replace(view, note=f"{pid} is no longer in the list")


def _themes(names: Sequence[str]) -> Iterator[Entry]:
    for name in names:
        yield Entry(f"theme {name}", "Colours until you quit; F2 keeps one", theme=name)
