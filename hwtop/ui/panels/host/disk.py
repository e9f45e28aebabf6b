"""Disks by use, and the mounts that fill or do not answer."""

from __future__ import annotations

from hwtop.fields import disk as fields
from hwtop.fields import units
from hwtop.fields.level import Levels
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle

_MOUNTS = 4
_LATENCY_FROM = 44
"""Cells from which the latency of a disk is shown."""
_FREE_FROM = 34
"""Cells from which the free space of a mount is shown."""


def wanted(view: View, _: int) -> int:
    """Rows for the busiest disks and the fullest mounts, frame included."""
    return 2 + max(1, min(4, len(view.frame.derived.disks)) + min(_MOUNTS, len(_mounts(view))))


def draw(view: View, width: int, height: int) -> list[Line]:
    """Silent mounts first, then disks and mounts in turn: both must be in sight in a small box."""
    room = inner(width)
    disks = sorted(view.frame.derived.disks, key=lambda disk: -_traffic(disk))
    mounts = _mounts(view)
    silent = [mount for mount in mounts if mount.reason]
    full = [mount for mount in mounts if not mount.reason]
    left = max(0, height - 2 - len(silent))
    disk_rows = min(len(disks), max(left - min(len(full), _MOUNTS), (left + 1) // 2))
    lines = [_mount(mount, view.levels, room) for mount in silent]
    lines += [_disk(disk, view.levels, room) for disk in disks[:disk_rows]]
    lines += [_mount(mount, view.levels, room) for mount in full[: left - disk_rows]]
    if not lines:
        lines = [Line("◌ no disk seen", "dim")]
    words = "bytes/s, latency, busy" if room >= _LATENCY_FROM else "bytes/s, busy"
    return box(lines, width, height, Line("Disks", "title"), Line(words, "dim"))


def traffic(view: View) -> tuple[float | None, float | None]:
    """Bytes a second read and written on all disks together."""
    disks = view.frame.derived.disks
    reads = [disk.read_bytes_per_s for disk in disks if disk.read_bytes_per_s is not None]
    writes = [disk.write_bytes_per_s for disk in disks if disk.write_bytes_per_s is not None]
    return sum(reads) if reads else None, sum(writes) if writes else None


def _traffic(disk: DiskRates) -> float:
    return (disk.busy_pct or 0) * 1e12 + (disk.read_bytes_per_s or 0) + (disk.write_bytes_per_s or 0)


def _mounts(view: View) -> list[MountReading]:
    """Those that do not answer, then by fill; /dev/shm is shown with the memory."""
    mounts = [mount for mount in view.frame.derived.mounts if mount.mount_point != "/dev/shm"]
    return sorted(mounts, key=lambda mount: (mount.reason is None, -(fields.USED.number(mount) or 0)))


def _disk(disk: DiskRates, levels: Levels, room: int) -> Line:
    name_width = max(6, min(14, room - 19))
    line = Line(elide_middle(disk.name, name_width), "label").fitted(name_width)
    for word, rate in (("r", disk.read_bytes_per_s), ("w", disk.write_bytes_per_s)):
        line.add(f" {word}", "dim").extend(Line(units.size(rate)).fitted(5, "right"))
    if room >= _LATENCY_FROM:
        latency = fields.LATENCY.text(disk)
        line.extend(Line(latency, "dim").fitted(10, "right"))
    return line.extend(cells.number(fields.BUSY, disk, levels).fitted(room - line.width, "right"))


def _mount(mount: MountReading, levels: Levels, room: int) -> Line:
    if mount.reason:
        return Line(f"✖ {elide_middle(mount.mount_point, room // 2)} {mount.reason}", "bad")
    role, mark = cells.tone(fields.USED, mount, levels)
    tail = Line(f" {mark}{fields.USED.text(mount)} full", role).fitted(11, "right")
    if room >= _FREE_FROM:
        tail = Line(f" {units.size(mount.available_bytes)} free", "dim").extend(tail)
    name_width = room - tail.width
    return Line(elide_middle(mount.mount_point, name_width), "label").fitted(name_width).extend(tail)
