"""Disks, mounts and network of the host, a table each: what is not well first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from hwtop.fields import units
from hwtop.fields.disk import BUSY, DISK, MOUNT, MOUNT_POINT, TYPE
from hwtop.fields.disk import NAME as DISK_NAME
from hwtop.fields.host import RETRANSMITS
from hwtop.fields.nic import NAME as NIC_NAME
from hwtop.fields.nic import NIC, SPEED, USE
from hwtop.model.frame import DerivedState
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.network import NicRates
from hwtop.ui import marks
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.panels.host.block import Block, HostTrend
from hwtop.ui.panels.host.trend import past
from hwtop.ui.tables import cells
from hwtop.ui.tables.cells import Cell
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import elide_middle, wrap

Row = TypeVar("Row")


def disks(view: View, width: int) -> Block:
    """All block devices, and how busy the busiest was."""
    rows = host_view.disks(view.frame.derived)
    longest = max((len(disk.name) for disk in rows), default=4)
    drawn: dict[str, Cell[DiskRates]] = {
        DISK_NAME.id: lambda disk, width: Line(elide_middle(disk.name, width), "strong")
    }
    columns = _widened(cells.columns("disks", DISK.fields, view.levels, drawn), min(12, max(4, longest)))
    lines = _table(columns, rows, width)
    if not lines:
        return Block("Disks", [_none(view, "disk", "no block device is seen")])
    role = partial(marks.role, BUSY.level(rows[0], view.levels))
    busiest = partial(past, view.frame.history, _busiest, width, role=role)
    return Block("Disks", lines, past=HostTrend(busiest, at=len(lines), caption="the busiest of them"))


def _busiest(derived: DerivedState) -> float | None:
    return max((disk.busy_pct for disk in derived.disks if disk.busy_pct is not None), default=None)


def mounts(view: View, width: int) -> Block:
    """All file systems that matter; those that do not answer first, each with its reason."""
    rows = host_view.mounts(view.frame.derived)
    longest = max((len(mount.mount_point) for mount in rows), default=5)
    drawn: dict[str, Cell[MountReading]] = {
        MOUNT_POINT.id: lambda mount, width: Line(elide_middle(mount.mount_point, width), "strong"),
        TYPE.id: lambda mount, width: Line(elide_middle(mount.fs_type, width), "label"),
    }
    columns = _widened(cells.columns("mounts", MOUNT.fields, view.levels, drawn), min(longest, max(10, width - 30)))
    well = [mount for mount in rows if not mount.reason]
    silent = [
        piece
        for mount in rows
        if mount.reason
        for piece in _wrapped(f"✖ {mount.mount_point} ({mount.fs_type}) {mount.reason}", width)
    ]
    lines = [*silent, *_table(columns, well, width)]
    return Block("Mounts", lines or [_none(view, "disk", "no file system is seen")])


def network(view: View, width: int) -> Block:
    """Interfaces and InfiniBand ports, then TCP."""
    derived = view.frame.derived
    if derived.network is None:
        return Block("Network", [_none(view, "network", "no numbers yet")])
    rows = host_view.nics(view.frame)
    longest = max((len(nic.name) for nic in rows), default=9)
    drawn: dict[str, Cell[NicRates]] = {
        NIC_NAME.id: lambda nic, width: Line(elide_middle(nic.name, width), "strong"),
        SPEED.id: _speed,
    }
    columns = _widened(cells.columns("nics", NIC.fields, view.levels, drawn), min(14, max(9, longest)))
    has_speed = any(USE.value(nic) is not None for nic in rows)
    if not has_speed:
        columns = [column for column in columns if not column.field.startswith(USE.id)]
    quiet = len(derived.network.nics) - len(rows)
    note = Line(f"{quiet} virtual without traffic" if quiet else "", "dim")
    lines = [*_table(columns, rows, width), *_tcp(view, width)]
    role = partial(marks.role, view.levels.get(USE.id))
    busiest = HostTrend(
        partial(past, view.frame.history, _busiest_link, width, role=role),
        at=len(lines),
        caption="the busiest link",
    )
    return Block("Network", lines, note, busiest if has_speed else None)


def _busiest_link(derived: DerivedState) -> float | None:
    nics = derived.network.nics if derived.network else ()
    return max((use for nic in nics if (use := USE.number(nic)) is not None), default=None)


def _tcp(view: View, width: int) -> list[Line]:
    derived = view.frame.derived
    share = derived.network.tcp_retransmit_pct if derived.network else None
    if share is None:
        why = derived.missing.get("network.tcp_retransmitted_segments") or "under 100 segments sent"
        return [Line(text, "dim") for text in wrap(f"{RETRANSMITS.label} {units.UNKNOWN} ({why})", width)]
    return [cells.labelled(RETRANSMITS, derived, view.levels).add(" of the segments", "dim")]


def not_seen(view: View, width: int) -> Block | None:
    """Every other number of the host that is missing, with its reason."""
    reported: dict[str, list[str]] = {}
    for field, reason in view.frame.derived.missing.items():
        if not field.startswith("cpu.psi."):
            reported.setdefault(reason, []).append(field.replace("_", " ").replace(".", " "))
    for status in view.frame.derived.sources:
        if status.name in ("cpu", "memory", "disk", "network", "cgroup") and status.status != "ok":
            reported.setdefault(status.reason or "no reading", []).append(f"{status.name} ({status.status})")
    lines = [
        piece
        for reason, fields in reported.items()
        for piece in _wrapped(f"◌ {', '.join(fields)}: {reason}", width, "dim")
    ]
    return Block("Not seen", lines) if lines else None


def _table(columns: Sequence[Column[Row]], rows: Sequence[Row], width: int) -> list[Line]:
    if not rows:
        return []
    chosen = table.chosen(columns, width)
    return [table.header(chosen), *(table.row(chosen, row) for row in rows)]


def _none(view: View, source: str, otherwise: str) -> Line:
    reported = host_view.reason(view, source)
    return Line(f"◌ {otherwise if reported == 'no numbers yet' else reported}", "dim")


def _wrapped(text: str, width: int, role: str = "bad") -> list[Line]:
    return [Line("  " if number else "").add(piece, role) for number, piece in enumerate(wrap(text, max(8, width - 2)))]


def _speed(nic: NicRates, _: int) -> Line:
    if nic.is_up is False:
        return Line("▼down", "warn")
    return Line(SPEED.text(nic), "label" if nic.link_mbit_per_s else "dim")


def _widened(columns: list[Column[Row]], width: int) -> list[Column[Row]]:
    """The first column, of the names, as wide as the longest of them."""
    return [replace(columns[0], width=width), *columns[1:]]
