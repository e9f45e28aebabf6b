"""Where each panel stands for a view and a size, and the whole picture. Pure: sizes in, places and lines out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hwtop.ui import flame_view
from hwtop.ui.panels import (
    compact,
    conclusion,
    cpu,
    disk,
    findings,
    flame,
    footer,
    gpu,
    host,
    logs,
    memory,
    network,
    picker,
    processes,
    rank_card,
    rank_map,
    ranks,
    stack_tree,
    stacks,
    verdict,
)
from hwtop.ui.view import Page, View
from hwtop.ui.widgets.line import Line

Draw = Callable[[View, int, int], list[Line]]

PANELS: dict[str, Draw] = {
    "verdict": verdict.draw,
    "findings": findings.draw,
    "gpu": gpu.draw,
    "ranks": ranks.draw,
    "rank-map": rank_map.draw,
    "rank-differ": rank_map.draw_differing,
    "rank-card": rank_card.draw,
    "host": host.draw,
    "busiest": processes.draw_busiest,
    "cpu": cpu.draw,
    "memory": memory.draw,
    "disk": disk.draw,
    "network": network.draw,
    "conclusion": conclusion.draw,
    "stack-tree": stack_tree.draw,
    "stack": stacks.draw,
    "flame": flame.draw,
    "flame-path": flame.draw_path,
    "logs": logs.draw,
    "processes": processes.draw,
    "picker": picker.draw,
    "compact": compact.draw,
    "footer": footer.draw,
}

_SCROLLED: dict[Page, tuple[str, Callable[[View, int, int], int]]] = {
    "stacks": ("stack", stacks.hidden),
    "logs": ("logs", logs.hidden),
    "processes": ("processes", processes.hidden),
}
"""The panel of a page that scrolls, and how many of its rows are out of sight."""

COMPACT_BELOW = (60, 15)
"""Cells and rows under which panels give way to text."""
_WIDE = 150
"""From here the host has a column of its own."""
_SMALL = 26
"""Rows between the top and the footer under which the host has one line without a frame."""
_BUSIEST_LEAST, _BUSIEST_FEW = 5, 8
"""Titles, frame and two processes; five are worth some of the trend's rows."""
_RANKS_LEAST = 4
"""Titles, frame and the rank that matters."""
_DIFFER_LEAST, _DIFFER_WIDE = 4, 56
"""Rows for titles, frame and one rank that differs; cells from which the list of them stands beside the map."""
_FLAME_LEAST, _FLAME_BESIDE = 80, 110
"""Cells from which functions have boxes, and from which the list of the hottest way stands beside them."""
_STACK_LEAST = 16
"""Rows from which a rank's stack stands beside its card."""
_LOGS_FROM = 5
"""Rows that are left over from here on show the newest log lines."""


@dataclass(frozen=True)
class Place:
    """A rectangle of the screen, in cells."""

    x: int
    y: int
    width: int
    height: int


def arrange(view: View, width: int, height: int) -> dict[str, Place]:
    """The panels to show and where; they never overlap and fill the screen."""
    if width < COMPACT_BELOW[0] or height < COMPACT_BELOW[1]:
        return {"compact": Place(0, 0, width, height)}
    top, bottom = verdict.ROWS, height - footer.rows(view, width)
    places = {"verdict": Place(0, 0, width, top), "footer": Place(0, bottom, width, height - bottom)}
    if view.is_picking:
        return places | _stack([("picker", bottom - top - 4), ("host", 4)], top, width)
    if view.page == "stacks":
        return places | _stacks(view, top, bottom, width)
    if view.page == "ranks":
        return places | _ranks(view, top, bottom, width)
    if view.page == "flame":
        return places | _flame(view, top, bottom, width)
    if view.page in ("logs", "processes"):
        return places | {view.page: Place(0, top, width, bottom - top)}
    if width >= _WIDE and height >= 40:
        return places | _wide(view, top, bottom, width)
    return places | _narrow(view, top, bottom, width)


def picture(view: View, width: int, height: int) -> list[Line]:
    """The whole screen: `height` lines of `width` cells."""
    rows: list[list[tuple[int, Line]]] = [[] for _ in range(height)]
    for name, place in arrange(view, width, height).items():
        for offset, line in enumerate(PANELS[name](view, place.width, place.height)):
            rows[place.y + offset].append((place.x, line))
    lines: list[Line] = []
    for parts in rows:
        line = Line()
        for x, part in sorted(parts, key=lambda item: item[0]):
            line = line.fitted(x).extend(part) if line.width < x else line.extend(part)
        lines.append(line.fitted(width))
    return lines


def scrollable(view: View, width: int, height: int) -> int:
    """How far this page can be scrolled, in rows."""
    if view.page not in _SCROLLED:
        return 0
    name, hidden = _SCROLLED[view.page]
    place = arrange(view, width, height).get(name)
    return hidden(view, place.width, place.height) if place else 0


def _ranks(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """A line a rank where all fit, else the map with those that differ; below them all about one rank."""
    room = bottom - top
    if not rank_map.is_wanted(view, room - rank_card.LEAST):
        rows = max(3, min(ranks.wanted(view, width), room - rank_card.LEAST))
        return _stack([("ranks", rows)], top, width) | _one_rank(Place(0, top + rows, width, room - rows))
    cells, rows = rank_map.wanted(view, width, room - rank_card.LEAST - _DIFFER_LEAST)
    if width - cells < _DIFFER_WIDE:
        left = room - rows - rank_card.LEAST
        differ = min(rank_map.wanted_differing(view), max(_DIFFER_LEAST, left // 2))
        return _stack([("rank-map", rows), ("rank-differ", differ), ("rank-card", room - rows - differ)], top, width)
    rows = max(rows, min(rank_map.wanted_differing(view), room // 2))
    sides = {"rank-map": Place(0, top, cells, rows), "rank-differ": Place(cells, top, width - cells, rows)}
    return sides | _one_rank(Place(0, top + rows, width, room - rows))


def _one_rank(at: Place) -> dict[str, Place]:
    """All about one rank, with its stack beside it where there is room."""
    if at.width < _WIDE or at.height < _STACK_LEAST:
        return {"rank-card": at}
    return _row(("rank-card", "stack"), at)


def _stacks(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The conclusion on top; below it the tree of all ranks and the stack of one, beside each other where there is room."""
    room = bottom - top
    said = min(conclusion.least(view, width), room // 2)
    if room >= _SMALL:
        said = max(said, min(conclusion.wanted(view, width), room // 3))
    left = room - said
    places = _stack([("conclusion", said)], top, width)
    if width >= _WIDE:
        main = width * 11 // 20
        places["stack-tree"] = Place(0, top + said, main, left)
        return places | {"stack": Place(main, top + said, width - main, left)}
    half = left // 2
    tree = min(stack_tree.wanted(view, width), max(half, left - stacks.wanted(view, width)))
    return places | _stack([("stack-tree", tree), ("stack", left - tree)], top + said, width)


def _flame(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The boxes with the hottest way beside or below them; in a narrow terminal, where no name fits a box, the way alone."""
    room = bottom - top
    if width < _FLAME_LEAST or flame_view.flame_of(view) is None:
        return _stack([("flame-path", room)], top, width)
    if width >= _FLAME_BESIDE:
        side = min(80, width * 2 // 5)
        return {
            "flame": Place(0, top, width - side, room),
            "flame-path": Place(width - side, top, side, room),
        }
    path = min(flame.wanted_path(view, width), room - min(flame.wanted(view, width), room * 2 // 3))
    return _stack([("flame", room - path), ("flame-path", path)], top, width)


def _narrow(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One column: findings, devices, ranks, host. The least of each first, then room by weight."""
    room = bottom - top
    is_small = room < _SMALL
    rows = {
        "findings": min(findings.least(view, width), room // 2),
        "gpu": 3,
        "ranks": ranks.least(view),
        "host": 1 if is_small else 3,
    }
    # In a small terminal the device table, where the findings leave room for it, is worth more than a third rank.
    lines = gpu.wanted(view, width) - 1
    if is_small and rows["findings"] + lines + _RANKS_LEAST + rows["host"] <= room:
        rows["gpu"], rows["ranks"] = lines, min(rows["ranks"], room - rows["findings"] - lines - rows["host"])
    limits = {
        "findings": min(findings.wanted(view, width), max(rows["findings"], room * 3 // 10)),
        "ranks": ranks.wanted(view, width),
        "gpu": gpu.wanted(view, width),
    }
    left = room - sum(rows.values())
    spare = room - sum(limits.values()) - rows["host"]
    has_panels = width >= 110 and spare >= 3
    more = min(5, spare) if has_panels else 1 if left >= 6 and not is_small else 0
    rows["host"] += more
    left -= more
    # A device table is worth its room only as a whole, titles aside.
    for name in ("findings", "gpu", "ranks"):
        more = min(limits[name] - rows[name], left)
        is_cut = name == "gpu" and rows[name] + more < limits["gpu"] - 1
        if more > 0 and not is_cut:
            rows[name] += more
            left -= more
    more = max(0, min(findings.wanted(view, width) - rows["findings"], left))
    rows["findings"] += more
    left -= more
    if left >= 2 and is_small:
        rows["host"] += min(left, 3) if left > 2 else 2
        left = room - sum(rows.values())
    rows["logs"] = left if left >= _LOGS_FROM else 0
    rows["ranks"] += left - rows["logs"]
    places = _stack([(name, rows[name]) for name in ("findings", "gpu", "ranks", "logs", "host")], top, width)
    if has_panels:
        at = places.pop("host")
        places |= _row(("cpu", "memory", "disk", "network"), at)
    return places


def _wide(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """Findings across; devices and ranks on the left, the host in a column on the right."""
    side = max(48, min(64, width * 3 // 10))
    main = width - side
    room = bottom - top
    found = min(findings.wanted(view, width), room * 2 // 5)
    devices = min(gpu.wanted(view, main), max(3, (room - found) // 2))
    places = _stack([("findings", found)], top, width)
    table = room - found - devices
    tail = table - ranks.wanted(view, main)
    tail = tail if tail >= _LOGS_FROM else 0
    places |= _stack([("gpu", devices), ("ranks", table - tail), ("logs", tail)], top + found, main)
    return places | _side(view, Place(main, top + found, side, room - found))


def _side(view: View, at: Place) -> dict[str, Place]:
    """The host in a column: all that its panels have to say, then the busiest processes, then air where it is least
    seen; cut from the end where it is too much."""
    wants = {
        "cpu": cpu.wanted(view, at.width),
        "memory": memory.wanted(view, at.width),
        "disk": disk.wanted(view, at.width),
        "network": network.wanted(view, at.width),
    }
    left = at.height - sum(wants.values())
    for name, least in (("cpu", 10), ("network", 4), ("disk", 4), ("memory", 4), ("cpu", 4)):
        cut = max(0, min(-left, wants[name] - least))
        wants[name] -= cut
        left += cut
    busiest = processes.wanted_busiest(view, at.width)
    few = min(busiest, _BUSIEST_FEW)
    # A trend of half the height tells as much.
    cut = max(0, min(few - left, wants["cpu"] - cpu.least(view, at.width)))
    if left + cut >= min(few, _BUSIEST_LEAST):
        wants["cpu"] -= cut
        left += cut
        wants["busiest"] = min(left, busiest)
        left -= wants["busiest"]
    wants["network"] += left
    order = ("cpu", "busiest", "memory", "disk", "network")
    return {
        name: Place(at.x, place.y, at.width, place.height)
        for name, place in _stack([(name, wants.get(name, 0)) for name in order], at.y, at.width).items()
    }


def _stack(rows: list[tuple[str, int]], top: int, width: int) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for name, height in rows:
        if height > 0:
            places[name] = Place(0, top, width, height)
            top += height
    return places


def _row(names: tuple[str, ...], at: Place) -> dict[str, Place]:
    places: dict[str, Place] = {}
    x = at.x
    for number, name in enumerate(names):
        width = (at.width - (x - at.x)) // (len(names) - number)
        places[name] = Place(x, at.y, width, at.height)
        x += width
    return places
