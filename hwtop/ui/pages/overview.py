"""The overview: what is wrong first, then devices, ranks and the host. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hwtop.config import panel_grid
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages import grid
from hwtop.ui.pages import ranks as ranks_page
from hwtop.ui.pages.page import Page, PagePanel, PlacesOf, turned
from hwtop.ui.panels.curves import view as curve_view
from hwtop.ui.panels.gpu import lines as gpu
from hwtop.ui.panels.host import cpu, disk, memory, network
from hwtop.ui.panels.processes import table as processes
from hwtop.ui.panels.ranks import table as ranks
from hwtop.ui.panels.symptoms import findings
from hwtop.ui.panels.symptoms import questions as hypotheses
from hwtop.ui.view import View
from hwtop.ui.widgets.place import SMALL, WIDE, Place, row, stack

_BUSIEST_LEAST, _BUSIEST_FEW = 5, 8
"""Titles, frame and two processes; five are worth some of the trend's rows."""
_RANKS_LEAST, _RANKS_FEW = 4, 8
"""Titles, frame and the rank that matters; some more."""
_FINDINGS_LEAST = 4
"""Frame, a title and a fact."""
_FOLDED = 3
"""Rows of all devices in one line."""
_CURVE_LEAST = 12
"""Rows from which the loss stands beside the log lines."""
_LOGS_FROM = 5
"""Rows that are left over from here on show the newest log lines."""


_WIDE_ROWS = 37
"""Rows between the top and the footer from which the host has a column of its own."""
_WANTED = {
    "findings": findings.wanted,
    "gpu": gpu.wanted,
    "ranks": ranks.wanted,
    "cpu": cpu.wanted,
    "memory": memory.wanted,
    "disk": disk.wanted,
    "network": network.wanted,
    "busiest": processes.wanted_busiest,
}


def _narrow(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """One column: findings, devices, ranks, host. The least of each first, then room by weight."""
    room = bottom - top
    is_small = room < SMALL
    rows = _least(view, width, room)
    limits = _limits(view, width, room, rows["findings"])
    for name in view.hidden & limits.keys():
        rows[name] = limits[name] = 0
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
    left = _unfolded(view, width, rows, left) + _folded(view, width, rows, left, is_small=is_small)
    more = max(0, min(findings.wanted(view, width) - rows["findings"], left)) if limits["findings"] else 0
    rows["findings"] += more
    left -= more
    if left >= 2 and is_small:
        rows["host"] += min(left, 3) if left > 2 else 2
        left = room - sum(rows.values())
    rows["logs"] = left if left >= _LOGS_FROM else 0
    rows["ranks"] += left - rows["logs"]
    _not_empty(rows)
    places = stack([(name, rows[name]) for name in ("findings", "gpu", "ranks", "logs", "host")], top, width)
    if "ranks" in places:
        places |= ranks_page.in_overview(view, places.pop("ranks"))
    if has_panels:
        at = places.pop("host")
        places |= row(("cpu", "memory", "disk", "network"), at)
    return places


def _not_empty(rows: dict[str, int]) -> None:
    """In the smallest terminals a frame without a rank in it is worth less than a line of the findings, or is left out."""
    if not 0 < rows["ranks"] < _RANKS_LEAST:
        return
    given = max(0, min(_RANKS_LEAST - rows["ranks"], rows["findings"] - _FINDINGS_LEAST))
    if rows["ranks"] + given < _RANKS_LEAST:
        given = -rows["ranks"]
    rows["ranks"] += given
    rows["findings"] -= given


def _least(view: View, width: int, room: int) -> dict[str, int]:
    """Rows that each panel needs."""
    is_small = room < SMALL
    rows = {
        "findings": min(findings.least(view, width), room // 2),
        "gpu": min(_FOLDED, gpu.wanted(view, width)),
        "ranks": ranks.least(view),
        "host": 1 if is_small else 3,
    }
    # In a small terminal the device table, where the findings leave room for it, is worth more than a third rank.
    lines = gpu.wanted(view, width) - 1
    if is_small and rows["findings"] + lines + _RANKS_LEAST + rows["host"] <= room:
        rows["gpu"], rows["ranks"] = lines, min(rows["ranks"], room - rows["findings"] - lines - rows["host"])
    return rows


def _limits(view: View, width: int, room: int, findings_least: int) -> dict[str, int]:
    """Rows that panels have a use for; the findings leave most of the room to the others."""
    return {
        "findings": min(findings.wanted(view, width), max(findings_least, room * 3 // 10)),
        "ranks": ranks_page.wanted(view, width, room),
        "gpu": gpu.wanted(view, width),
    }


def _unfolded(view: View, width: int, rows: dict[str, int], left: int) -> int:
    """Where all devices are folded into one line, a cell for each is worth some ranks. What is left of the room."""
    short = gpu.wanted_grid(view, width) - rows["gpu"]
    taken = max(0, short - left)
    if rows["gpu"] != _FOLDED or not view.frame.derived.gpus or short <= 0 or rows["ranks"] - taken < _RANKS_FEW:
        return left
    rows["gpu"] += short
    rows["ranks"] -= taken
    return left - (short - taken)


def _folded(view: View, width: int, rows: dict[str, int], left: int, *, is_small: bool) -> int:
    """Rows gained: where the log has no room and the table of the devices reports no problem, a cell for each device is enough."""
    gained = rows["gpu"] - gpu.wanted_grid(view, width)
    is_needed = left < _LOGS_FROM <= left + gained and "logs" not in view.hidden
    if is_small or not is_needed or not view.frame.derived.gpus or not gpu.is_calm(view):
        return 0
    rows["gpu"] -= gained
    return gained


def _wide(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """Findings across; devices and ranks on the left, the host in a column on the right."""
    side = max(48, min(64, width * 3 // 10))
    main = width - side
    room = bottom - top
    found = 0 if "findings" in view.hidden else min(findings.wanted(view, width), room * 2 // 5)
    devices = 0 if "gpu" in view.hidden else min(gpu.wanted(view, main), max(3, (room - found) // 2))
    places = stack([("findings", found)], top, width)
    table = room - found - devices
    tail = table if "ranks" in view.hidden else table - ranks_page.wanted(view, main, table)
    tail = tail if tail >= _LOGS_FROM and "logs" not in view.hidden else 0
    places |= stack([("gpu", devices), ("ranks", table - tail), ("logs", tail)], top + found, main)
    if "ranks" in places:
        places |= ranks_page.in_overview(view, places.pop("ranks"))
    if tail >= _CURVE_LEAST and curve_view.curves(view):
        places |= row(("logs", "curve"), places.pop("logs"))
    return places | _side(view, Place(main, top + found, side, room - found))


def _side(view: View, at: Place) -> dict[str, Place]:
    """The host in a column: all that its panels have to say, then the busiest processes, a higher trend, the usual suspects,
    then air where it is least seen; cut from the end where it is too much."""
    wants = {
        "cpu": cpu.wanted(view, at.width),
        "memory": memory.wanted(view, at.width),
        "disk": disk.wanted(view, at.width),
        "network": network.wanted(view, at.width),
    }
    wants |= dict.fromkeys(view.hidden & wants.keys(), 0)
    left = at.height - sum(wants.values())
    for name, least in (("cpu", 10), ("network", 4), ("disk", 4), ("memory", 4), ("cpu", 4)):
        cut = max(0, min(-left, wants[name] - least))
        wants[name] -= cut
        left += cut
    busiest = 0 if "busiest" in view.hidden else processes.wanted_busiest(view, at.width)
    few = min(busiest, _BUSIEST_FEW)
    # A trend of half the height tells as much.
    cut = max(0, min(few - left, wants["cpu"] - cpu.least(view, at.width)))
    if few and left + cut >= min(few, _BUSIEST_LEAST):
        wants["cpu"] -= cut
        left += cut
        wants["busiest"] = min(left, busiest)
        left -= wants["busiest"]
    if wants["cpu"]:
        more = min(left, cpu.MORE)
        wants["cpu"] += more
        left -= more
    if view.frame.hypotheses and "suspects" not in view.hidden and left >= hypotheses.least(view):
        wants["suspects"], left = left, 0
    order = ("cpu", "busiest", "memory", "disk", "network", "suspects")
    last = next((name for name in reversed(order) if wants.get(name)), "network")
    wants[last] += left
    return {
        name: Place(at.x, place.y, at.width, place.height)
        for name, place in stack([(name, wants.get(name, 0)) for name in order], at.y, at.width).items()
    }


class OverviewPage(Page):
    """Everything at a glance. It defines no panels: it shows those of the other pages."""

    name = "overview"
    title = "Overview"
    tab = Action("overview", "1", "overview", "What is wrong, and everything at a glance")
    panels: dict[str, PagePanel] = {}
    main = ("findings", "ranks", "rank-map")
    keeps_main = False

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
        """As the user has drawn it, where that has room, else as built in."""
        if view.drawing:
            wanted = {name: partial(rows, view) for name, rows in _WANTED.items()}
            at = Place(0, top, width, bottom - top)
            if places := grid.arrange(panel_grid.parse(view.drawing), at, wanted):
                return places
        is_wide = width >= WIDE and bottom - top >= _WIDE_ROWS
        return (_wide if is_wide else _narrow)(view, top, bottom, width)

    def focused_first(self, view: View) -> tuple[str, ...]:
        """Without findings it is about the ranks."""
        return self.main if view.frame.findings else ("rank-map", *self.main[::-1])

    def choose(self, view: View, places: PlacesOf) -> View:  # noqa: ARG002
        """The stack of the selected rank, else what is wrong."""
        if view.selected is not None:
            return turned(view, "stacks")
        return turned(view, "symptoms") if view.frame.findings else view

    def offers(self, view: View) -> Sequence[Offer]:
        """Its keys in the footer."""
        stack_ = [(("choose",), "its stack")] if view.selected is not None else []
        why = [(("symptoms",), "why")] if view.frame.findings else []
        return [*stack_, (("down", "up"), "rank"), *why, (("panel-alone",), "large")]
