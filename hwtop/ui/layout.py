"""Where each panel stands for a view and a size, and the whole picture. Pure: sizes in, places and lines out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hwtop.ui.panels import (
    compact,
    cpu,
    disk,
    findings,
    footer,
    gpu,
    host,
    logs,
    memory,
    network,
    picker,
    processes,
    ranks,
    stacks,
    verdict,
)
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

Draw = Callable[[View, int, int], list[Line]]

PANELS: dict[str, Draw] = {
    "verdict": verdict.draw,
    "findings": findings.draw,
    "gpu": gpu.draw,
    "ranks": ranks.draw,
    "host": host.draw,
    "cpu": cpu.draw,
    "memory": memory.draw,
    "disk": disk.draw,
    "network": network.draw,
    "stack-groups": stacks.draw_groups,
    "stack": stacks.draw_rank,
    "logs": logs.draw,
    "processes": processes.draw,
    "picker": picker.draw,
    "compact": compact.draw,
    "footer": footer.draw,
}

COMPACT_BELOW = (60, 15)
"""Cells and rows under which panels give way to text."""
_WIDE = 150
"""From here the host has a column of its own."""
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
    top, bottom = verdict.ROWS, height - 1
    places = {"verdict": Place(0, 0, width, top), "footer": Place(0, bottom, width, 1)}
    if view.is_picking:
        return places | _stack([("picker", bottom - top - 4), ("host", 4)], top, width)
    if view.page == "stacks":
        groups = min(stacks.wanted_groups(view, width), (bottom - top) // 2)
        return places | _stack([("stack-groups", groups), ("stack", bottom - top - groups)], top, width)
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


def _narrow(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One column: findings, devices, ranks, host. The least of each first, then room by weight."""
    room = bottom - top
    rows = {"findings": min(findings.least(view, width), room // 2), "gpu": 3, "ranks": ranks.least(view), "host": 3}
    limits = {
        "findings": min(findings.wanted(view, width), max(rows["findings"], room * 3 // 10)),
        "ranks": ranks.wanted(view, width),
        "gpu": gpu.wanted(view, width),
    }
    left = room - sum(rows.values())
    spare = room - sum(limits.values()) - rows["host"]
    has_panels = width >= 110 and spare >= 5
    more = 5 if has_panels else 1 if left >= 6 else 0
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
    wants = {
        "memory": memory.wanted(view, side),
        "disk": disk.wanted(view, side),
        "network": network.wanted(view, side),
    }
    right = room - found
    wants["cpu"] = max(6, min(cpu.wanted(view, side), right - sum(wants.values())))
    over = wants["cpu"] + sum(wants[name] for name in ("memory", "disk", "network")) - right
    for name in ("network", "disk", "memory"):
        cut = max(0, min(over, wants[name] - 4))
        wants[name] -= cut
        over -= cut
    wants["cpu"] -= over
    order = ("cpu", "memory", "disk", "network")
    return places | {
        name: Place(main, place.y, side, place.height)
        for name, place in _stack([(name, wants[name]) for name in order], top + found, side).items()
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
