"""Disks, mounts and network of the host, a table each: what is not well first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from hwtop.model.disk import DiskRates, MountReading
from hwtop.model.frame import Moment
from hwtop.model.network import NicRates
from hwtop.ui import host_view, marks, units
from hwtop.ui.panels.host_block import Block, Past
from hwtop.ui.panels.host_trend import past
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import elide_middle, wrap

Row = TypeVar("Row")


def disks(view: View, width: int) -> Block:
    """All block devices, and how busy the busiest was."""
    rows = host_view.disks(view.frame.moment)
    longest = max((len(disk.name) for disk in rows), default=4)
    columns: list[Column[DiskRates]] = [
        Column("disk", min(12, max(4, longest)), lambda disk, width: Line(elide_middle(disk.name, width), "strong")),
        Column("read/s", 6, lambda disk, _: _bytes(disk.read_bytes_per_s), align="right"),
        Column("write/s", 7, lambda disk, _: _bytes(disk.write_bytes_per_s), align="right"),
        Column("reads", 6, lambda disk, _: _count(disk.reads_per_s), 4, align="right"),
        Column("writes", 6, lambda disk, _: _count(disk.writes_per_s), 4, align="right"),
        Column("queue", 5, lambda disk, _: Line(str(disk.in_flight), "text"), 3, align="right"),
        Column("latency", 7, _latency, 1, align="right"),
        Column("", 6, lambda disk, width: _bar(disk.busy_pct, width, host_view.BUSY), 2, grow=1, most=20),
        Column("busy", 5, lambda disk, _: _share(disk.busy_pct, host_view.BUSY), align="right"),
    ]
    lines = _table(columns, rows, width)
    if not lines:
        return Block("Disks", [_none(view, "disk", "no block device is seen")])
    busiest = partial(past, view.frame.history, _busiest, width, role=_busy_role)
    return Block("Disks", lines, past=Past(busiest, at=len(lines), caption="the busiest of them"))


def _busiest(moment: Moment) -> float | None:
    return max((disk.busy_pct for disk in moment.disks if disk.busy_pct is not None), default=None)


def _busy_role(busy_pct: float) -> str:
    role = marks.high(busy_pct, *host_view.BUSY)[0]
    return "info" if role == "good" else role


def mounts(view: View, width: int) -> Block:
    """All file systems that matter; those that do not answer first, each with its reason."""
    rows = host_view.mounts(view.frame.moment)
    longest = max((len(mount.mount_point) for mount in rows), default=5)
    columns: list[Column[MountReading]] = [
        Column(
            "mount",
            min(longest, max(10, width - 30)),
            lambda mount, width: Line(elide_middle(mount.mount_point, width), "strong"),
        ),
        Column("type", 6, lambda mount, width: Line(elide_middle(mount.fs_type, width), "label"), 2),
        Column("", 6, lambda mount, width: _bar(_fill(mount), width, host_view.FULL), 3, grow=1, most=20),
        Column("used", 5, lambda mount, _: _share(_fill(mount), host_view.FULL), align="right"),
        Column("free", 5, lambda mount, _: _bytes(mount.available_bytes), align="right"),
        Column("inodes", 6, lambda mount, _: _share(mount.inodes_used_pct, host_view.FULL), 1, align="right"),
    ]
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
    moment = view.frame.moment
    if moment.network is None:
        return Block("Network", [_none(view, "network", "no numbers yet")])
    rows = host_view.nics(view.frame)
    longest = max((len(nic.name) for nic in rows), default=9)
    columns: list[Column[NicRates]] = [
        Column("interface", min(14, max(9, longest)), lambda nic, width: Line(elide_middle(nic.name, width), "strong")),
        Column("in/s", 5, lambda nic, _: _bytes(nic.rx_bytes_per_s), align="right"),
        Column("out/s", 5, lambda nic, _: _bytes(nic.tx_bytes_per_s), align="right"),
        Column("", 6, lambda nic, width: _bar(host_view.link_use(nic), width, host_view.LINK), 4, grow=1, most=20),
        Column("link", 5, lambda nic, _: _share(host_view.link_use(nic), host_view.LINK), 2, align="right"),
        Column("of", 5, _speed, 3, align="right"),
        Column("err/s", 5, lambda nic, _: _bad(nic.errors_per_s), 1, align="right"),
        Column("drop/s", 6, lambda nic, _: _bad(nic.drops_per_s), 1, align="right"),
    ]
    has_speed = any(host_view.link_use(nic) is not None for nic in rows)
    if not has_speed:
        columns = [column for column in columns if column.title not in ("", "link")]
    quiet = len(moment.network.nics) - len(rows)
    note = Line(f"{quiet} virtual without traffic" if quiet else "", "dim")
    lines = [*_table(columns, rows, width), *_tcp(view, width)]
    busiest = Past(
        partial(past, view.frame.history, _busiest_link, width, role=_link_role),
        at=len(lines),
        caption="the busiest link",
    )
    return Block("Network", lines, note, busiest if has_speed else None)


def _busiest_link(moment: Moment) -> float | None:
    nics = moment.network.nics if moment.network else ()
    return max((use for nic in nics if (use := host_view.link_use(nic)) is not None), default=None)


def _link_role(use_pct: float) -> str:
    role = marks.high(use_pct, *host_view.LINK)[0]
    return "info" if role == "good" else role


def _tcp(view: View, width: int) -> list[Line]:
    moment = view.frame.moment
    share = moment.network.tcp_retransmit_pct if moment.network else None
    if share is None:
        why = moment.missing.get("network.tcp_retransmitted_segments") or "under 100 segments sent"
        return [Line(text, "dim") for text in wrap(f"TCP sent again {units.UNKNOWN} ({why})", width)]
    role, mark = marks.high(share, *host_view.RESENT)
    return [
        Line("TCP sent again ", "label")
        .add(f"{mark.strip()}{share:.1f}%", role if role in ("warn", "bad") else "text")
        .add(" of the segments", "dim")
    ]


def not_seen(view: View, width: int) -> Block | None:
    """Every other number of the host that is missing, with its reason."""
    told: dict[str, list[str]] = {}
    for field, reason in view.frame.moment.missing.items():
        if not field.startswith("cpu.psi."):
            told.setdefault(reason, []).append(field.replace("_", " ").replace(".", " "))
    for status in view.frame.moment.sources:
        if status.name in ("cpu", "memory", "disk", "network", "cgroup") and status.status != "ok":
            told.setdefault(status.reason or "no reading", []).append(f"{status.name} ({status.status})")
    lines = [
        piece for reason, fields in told.items() for piece in _wrapped(f"◌ {', '.join(fields)}: {reason}", width, "dim")
    ]
    return Block("Not seen", lines) if lines else None


def _table(columns: Sequence[Column[Row]], rows: Sequence[Row], width: int) -> list[Line]:
    if not rows:
        return []
    chosen = table.chosen(columns, width)
    return [table.header(chosen), *(table.row(chosen, row) for row in rows)]


def _none(view: View, source: str, otherwise: str) -> Line:
    told = host_view.reason(view, source)
    return Line(f"◌ {otherwise if told == 'no numbers yet' else told}", "dim")


def _wrapped(text: str, width: int, role: str = "bad") -> list[Line]:
    return [Line("  " if number else "").add(piece, role) for number, piece in enumerate(wrap(text, max(8, width - 2)))]


def _bytes(value: float | None) -> Line:
    return Line(units.size(value), "dim" if value is None else "text")


def _count(value: float | None) -> Line:
    return Line(units.count(value), "dim" if value is None else "text")


def _latency(disk: DiskRates, _: int) -> Line:
    return Line(units.UNKNOWN, "dim") if disk.latency_ms is None else Line(f"{disk.latency_ms:.1f}ms", "text")


def _fill(mount: MountReading) -> float | None:
    return host_view.share(mount.used_bytes, mount.total_bytes)


def _share(value: float | None, limits: tuple[float, float]) -> Line:
    role, mark = marks.high(value, *limits)
    return Line(f"{mark.strip()}{units.pct(value)}", "text" if role == "good" else role)


def _bar(value: float | None, width: int, limits: tuple[float, float]) -> Line:
    role = marks.high(value, *limits)[0]
    return bar(
        None if value is None else value / 100,
        width,
        "info" if role == "good" else role,
        [each / 100 for each in limits],
    )


def _speed(nic: NicRates, _: int) -> Line:
    if nic.is_up is False:
        return Line("▼down", "warn")
    mbit = nic.link_mbit_per_s
    return (
        Line(units.UNKNOWN, "dim") if not mbit else Line(f"{mbit / 1000:g}G" if mbit >= 1000 else f"{mbit:g}M", "label")
    )


def _bad(value: float | None) -> Line:
    if value is None:
        return Line(units.UNKNOWN, "dim")
    return Line(f"▲{value:.0f}" if value >= 0.5 else "▲<1", "warn") if value else Line("0", "text")
