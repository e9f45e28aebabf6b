"""The flame: where the samples of one rank fell, root on top, a box as wide as its share; and the hottest path as a list."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.stacks.frames import short_name, source_place
from hwtop.model.flame import Flame, FlameNode
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.ui.panels import consent
from hwtop.ui.panels.ranks import table as ranks
from hwtop.ui.panels.stacks import flame_view
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end, elide_middle, elide_path, visible, wrap

_USER, _LIBRARY = "▌", "▏"
"""The left edge of a box: code of the user, code of a library."""
_FOOT = 2
"""Rows under the boxes: what is selected, and what the edges mean."""
_NAME = 24
_SOURCE = 8
"""Cells from which a line of the source can be read."""
_LEFT = 2
"""Cells of the frame and the blank beside it."""


class _Box(Struct, frozen=True):
    """One function of one way, on the row of its depth."""

    x: int
    width: int
    node: FlameNode
    is_selected: bool


def wanted(view: View, _: int) -> int:
    """Rows for the whole flame, frame included."""
    flame = flame_view.flame_of(view)
    return 2 + _FOOT + (_depth(flame.roots) if flame else 2)


def wanted_path(view: View, _: int) -> int:
    """Rows for the hottest path, titles and frame included."""
    flame = flame_view.flame_of(view)
    return 3 + (len(_path(view, flame)) if flame else 0)


def draw(view: View, width: int, height: int) -> list[Line]:
    """The boxes from the root down, with the selected one in sight."""
    flame = flame_view.flame_of(view)
    title = _title(view)
    room, rows = inner(width), height - 2 - _FOOT
    if flame is None or rows < 1:
        return box(_why_empty(view, room), width, height, title, Line())
    here, zoom = flame_view.selected(view, flame), flame_view.zoom(view, flame)
    boxes = _boxes(flame, zoom, here, room)
    visible_rows = _visible_rows(boxes, here, rows)
    is_tall = _is_tall(boxes, rows)
    lines = [line for index in visible_rows for line in _row(boxes[index], room, flame.samples, is_tall=is_tall)]
    lines += [Line()] * (rows - len(lines))
    note = _samples(flame)
    if len(visible_rows) < len(boxes):
        note.add(f", rows {table.part(visible_rows, len(boxes))}", "accent")
    return box([*lines, _about(flame, here[-1], room), _legend(zoom)], width, height, title, note)


def draw_path(view: View, width: int, height: int) -> list[Line]:
    """From the root to the selected function, then the way that most samples went: a line each."""
    flame = flame_view.flame_of(view)
    title = Line("Hottest path", "title")
    room = inner(width)
    if flame is None:
        return box(_why_empty(view, room), width, height, _title(view), Line())
    path = _path(view, flame)
    at = len(flame_view.selected(view, flame)) - 1
    lines = [Line("share  samples  function", "label")]
    for index in _path_rows(view, flame, path, height):
        line = _step(path[index], flame, room)
        lines.append(line.fitted(room).recoloured("cursor") if index == at else line)
    return box([*lines, *_hot(view, room)], width, height, title, _samples(flame))


def node_at(view: View, x: int, y: int, width: int, height: int) -> FlameNode | None:
    """The function whose box is at this cell."""
    flame = flame_view.flame_of(view)
    if flame is None or not 1 <= y < height - 1 - _FOOT:
        return None
    here, zoom = flame_view.selected(view, flame), flame_view.zoom(view, flame)
    boxes = _boxes(flame, zoom, here, inner(width))
    rows = height - 2 - _FOOT
    visible_rows = _visible_rows(boxes, here, rows)
    at = (y - 1) // (2 if _is_tall(boxes, rows) else 1)
    row = boxes[visible_rows[at]] if at < len(visible_rows) else []
    return next((each.node for each in row if each.x <= x - _LEFT < each.x + each.width), None)


def path_node_at(view: View, y: int, height: int) -> FlameNode | None:
    """The function in this row of the hottest path."""
    flame = flame_view.flame_of(view)
    if flame is None:
        return None
    path = _path(view, flame)
    shown = _path_rows(view, flame, path, height)
    return path[shown[y - 2]] if 0 <= y - 2 < len(shown) else None


def _is_tall(boxes: Sequence[Sequence[_Box]], rows: int) -> bool:
    """Is there room for a second row in each box: where in the source most of its samples were?"""
    return 2 * len(boxes) <= rows


def _visible_rows(boxes: Sequence[Sequence[_Box]], here: Sequence[FlameNode], rows: int) -> range:
    return table.window(len(boxes), rows, max(0, len(here) + 1 - rows))


def _path_rows(view: View, flame: Flame, path: Sequence[FlameNode], height: int) -> range:
    return table.around(len(path), max(1, height - 3), len(flame_view.selected(view, flame)) - 1)


def wanted_why(view: View, width: int) -> int:
    """Rows for why there are no samples, frame included."""
    return 2 + len(_why_empty(view, inner(width)))


def _title(view: View) -> Line:
    rank = view.shown_rank
    title = Line("Flame" if rank is None else f"Flame of rank {rank.rank}", "title")
    return title.add(f"  PID {rank.pid}", "dim") if rank else title


def _samples(flame: Flame) -> Line:
    return Line(f"{units.count(flame.samples)} samples in {units.duration(flame.window_s)}", "dim")


def _why_empty(view: View, width: int) -> list[Line]:
    """Why there are no boxes: each reason with what would help."""
    job, rank = view.job, view.shown_rank
    if job is None or rank is None:
        return [ranks.none(view)]
    if not rank.is_alive:
        return [Line("✖ ", "bad").add(f"rank {rank.rank} has ended: there is nothing to sample", "text")]
    reasons = (
        [(rank.stack.dump.error, rank.stack.dump.advice or "")] if rank.stack.dump and rank.stack.dump.error else []
    )
    reasons += [each for each in job.stacks.errors if each not in reasons]
    reasons += [(f"{refusal.rung}: {refusal.reason}", refusal.advice) for refusal in job.stacks.refusals]
    if not reasons:
        return [Line("◌ ", "dim").add(piece, "dim") for piece in wrap(_not_yet(view, job, rank), max(8, width - 2))]
    lines = [Line("▲ ", "warn").add("no samples:", "strong")]
    for reason, advice in dict.fromkeys(reasons):
        lines += [Line("  ").add(piece, "text") for piece in wrap(reason, max(8, width - 2))]
        lines += [Line("  → ", "accent").add(piece, "accent") for piece in wrap(advice, max(8, width - 4))]
    return [*lines, *consent.offer(view, 2)]


def _not_yet(view: View, job: Job, rank: Rank) -> str:
    """A live watch samples the rank that is chosen; a recording has what was chosen then."""
    if view.playback is None:
        return f"no samples of rank {rank.rank} yet: the first come within seconds"
    flame = job.stacks.flame
    has = "none" if flame is None else f"that of rank {flame.rank}, which was chosen then"
    return f"no flame of rank {rank.rank} at this time: the recording has {has}. Page 2 shows its hottest lines"


def _depth(nodes: Sequence[FlameNode]) -> int:
    return max((1 + _depth(node.children) for node in nodes), default=0)


def _boxes(flame: Flame, zoom: Sequence[FlameNode], here: Sequence[FlameNode], width: int) -> list[list[_Box]]:
    """Rows of boxes, by depth: what lies above the zoom at full width, then all below it."""
    rows = [[_Box(0, width, node, node is here[-1])] for node in zoom]

    def fill(nodes: Sequence[FlameNode], left: float, per_sample: float, depth: int) -> None:
        for node in nodes:
            right = left + node.samples * per_sample
            x, end = round(left), round(right)
            if end > x:
                if depth == len(rows):
                    rows.append([])
                rows[depth].append(_Box(x, end - x, node, node is here[-1]))
                fill(node.children, left, per_sample, depth + 1)
            left = right

    top = zoom[-1].children if zoom else flame.roots
    total = zoom[-1].samples if zoom else flame.samples
    fill(top, 0.0, width / max(1, total), len(rows))
    return rows


def _row(boxes: Sequence[_Box], width: int, total: int, *, is_tall: bool) -> list[Line]:
    """The boxes of one depth: their names, and in tall ones the places under these."""
    labels = [[_label(each.node, each.width - 1, total) for each in boxes]]
    if is_tall:
        labels.append([_source(each.node, each.width - 1) for each in boxes])
    return [_boxed(boxes, texts, width) for texts in labels]


def _boxed(boxes: Sequence[_Box], texts: Sequence[str], width: int) -> Line:
    line = Line()
    for each, text in zip(boxes, texts, strict=True):
        line.add(" " * (each.x - line.width), "text")
        edge = _USER if each.node.is_user else _LIBRARY
        role = "cursor" if each.is_selected else "flame-user" if each.node.is_user else "flame-library"
        line.add(edge + text, role)
    return line.add(" " * (width - line.width), "text")


def _source(node: FlameNode, width: int) -> str:
    """File and line, with the text of the line where it fits: "train.py:97  loss.backward()"."""
    place = visible(source_place(node.frame))
    text = next((each for each in (place, place.rsplit("/", 1)[-1]) if cells(each) <= width), "")
    room = width - cells(text) - 2
    if text and node.frame.code and room >= _SOURCE:
        text += "  " + elide_end(visible(node.frame.code), room)
    return text + " " * (width - cells(text))


def _label(node: FlameNode, width: int, total: int) -> str:
    """The name, with its class and its share where they fit."""
    share = f" {100 * node.samples / max(1, total):.0f}%"
    short = visible(short_name(node.frame.name))
    for text in (visible(node.frame.name) + share, short + share, short):
        if cells(text) <= width:
            return text + " " * (width - cells(text))
    return elide_end(short, width) if width > 2 else " " * width


def _about(flame: Flame, node: FlameNode, width: int) -> Line:
    """The selected box in words."""
    own = node.samples - sum(child.samples for child in node.children)
    line = Line("▸ ", "accent").add(flame_view.reported(flame, node), "strong")
    if node.children and own:
        line.add(f"   itself {100 * own / max(1, flame.samples):.0f}%", "text")
    room = width - line.width - 3
    return line.add(f"   {elide_end(node.frame.code, room)}", "dim") if node.frame.code and room >= 12 else line


def _legend(zoom: Sequence[FlameNode]) -> Line:
    line = Line(f"{_USER} your code ", "flame-user").add("  ", "text")
    line.add(f"{_LIBRARY} library ", "flame-library")
    if zoom:
        line.add("   zoomed into ", "label").add(short_name(zoom[-1].frame.name), "text").add(
            ", Esc shows all", "label"
        )
    return line


def _path(view: View, flame: Flame) -> list[FlameNode]:
    here = flame_view.selected(view, flame)
    return [*here, *flame_view.hottest(here[-1].children)]


def _hot(view: View, width: int) -> list[Line]:
    """The hottest lines of the user's code, for where the list ends early."""
    rank = view.shown_rank
    if rank is None or not rank.stack.hot_lines:
        return []
    lines = [Line(), Line("share  samples  hottest lines of your code", "label")]
    for hot in rank.stack.hot_lines:
        line = Line(f"{100 * hot.share:>4.0f}%  {hot.samples:>7}  ", "text")
        name = f"{hot.file.rsplit('/', 1)[-1]}:{hot.line}"
        place = Line(f"  {elide_path(name, max(8, (width - line.width) // 2))}", "accent")
        room = max(8, width - line.width - place.width)
        line.add(elide_end(visible(hot.code or hot.function), room), "text").extend(place)
        lines.append(line.fitted(width))
    return lines


def _step(node: FlameNode, flame: Flame, width: int) -> Line:
    line = Line(f"{100 * node.samples / max(1, flame.samples):>4.0f}%  {node.samples:>7}  ", "text")
    role = "strong" if node.is_user else "dim"
    room = max(8, width - line.width - 2)
    line.add(_USER if node.is_user else _LIBRARY, "accent" if node.is_user else "dim").add(" ")
    name = elide_middle(short_name(node.frame.name), min(_NAME, room * 3 // 5))
    line.add(name, role).add("  ")
    return line.add(
        elide_path(visible(source_place(node.frame)), max(4, width - line.width)), "accent" if node.is_user else "dim"
    )
