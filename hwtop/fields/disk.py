"""Fields of a block device and of a file system."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Subject
from hwtop.fields.ratio import percent
from hwtop.model.host.disk import DiskRates, MountReading

_BAR = Column(width=6, priority=2, title="", grow=1, most=20, align="left", shape="bar")

NAME: Field[DiskRates] = Field(
    id="disk.name",
    about="name of the block device",
    kind="word",
    value=lambda disk: disk.name,
    title="disk",
    columns={"disks": (Column(width=4, most=12),)},
    json="name",
)
READ: Field[DiskRates] = Field(
    id="disk.read_bytes_per_s",
    about="bytes read a second",
    kind="bytes",
    unit="B/s",
    value=lambda disk: disk.read_bytes_per_s,
    title="read/s",
    columns={"disks": (Column(width=6),)},
    json="read_bytes_per_s",
)
WRITE: Field[DiskRates] = Field(
    id="disk.write_bytes_per_s",
    about="bytes written a second",
    kind="bytes",
    unit="B/s",
    value=lambda disk: disk.write_bytes_per_s,
    title="write/s",
    columns={"disks": (Column(width=7),)},
    json="write_bytes_per_s",
)
READS: Field[DiskRates] = Field(
    id="disk.reads_per_s",
    about="requests to read, finished a second",
    kind="count",
    unit="1/s",
    value=lambda disk: disk.reads_per_s,
    title="reads",
    columns={"disks": (Column(width=6, priority=4),)},
    json="reads_per_s",
)
WRITES: Field[DiskRates] = Field(
    id="disk.writes_per_s",
    about="requests to write, finished a second",
    kind="count",
    unit="1/s",
    value=lambda disk: disk.writes_per_s,
    title="writes",
    columns={"disks": (Column(width=6, priority=4),)},
    json="writes_per_s",
)
QUEUE: Field[DiskRates] = Field(
    id="disk.in_flight",
    about="requests under way now",
    kind="count",
    format=units.number,
    value=lambda disk: disk.in_flight,
    title="queue",
    columns={"disks": (Column(width=5, priority=3),)},
    json="in_flight",
)
LATENCY: Field[DiskRates] = Field(
    id="disk.latency_ms",
    about="mean time of a finished request, queue included",
    kind="count",
    unit="ms",
    format=units.ms,
    value=lambda disk: disk.latency_ms,
    title="latency",
    columns={"disks": (Column(width=7, priority=1),)},
    json="latency_ms",
)
BUSY: Field[DiskRates] = Field(
    id="disk.busy_pct",
    about="time with a request under way",
    kind="percent",
    value=lambda disk: disk.busy_pct,
    title="busy",
    columns={"disks": (_BAR, Column(width=5))},
    json="busy_pct",
)

MOUNT_POINT: Field[MountReading] = Field(
    id="mount.mount_point",
    about="where it is mounted",
    kind="word",
    value=lambda mount: mount.mount_point,
    title="mount",
    columns={"mounts": (Column(width=10),)},
    json="mount_point",
)
TYPE: Field[MountReading] = Field(
    id="mount.fs_type",
    about="type of the file system",
    kind="word",
    value=lambda mount: mount.fs_type,
    title="type",
    columns={"mounts": (Column(width=6, priority=2),)},
    json="fs_type",
)
USED: Field[MountReading] = Field(
    id="mount.used_pct",
    about="space in use",
    kind="percent",
    value=lambda mount: percent(mount.used_bytes, mount.total_bytes),
    title="used",
    columns={
        "mounts": (
            Column(width=6, priority=3, title="", grow=1, most=20, align="left", shape="bar"),
            Column(width=5),
        )
    },
)
FREE: Field[MountReading] = Field(
    id="mount.available_bytes",
    about="space left for an ordinary user",
    kind="bytes",
    value=lambda mount: mount.available_bytes,
    title="free",
    columns={"mounts": (Column(width=5),)},
    json="available_bytes",
)
INODES: Field[MountReading] = Field(
    id="mount.inodes_used_pct",
    about="inodes in use",
    kind="percent",
    value=lambda mount: mount.inodes_used_pct,
    title="inodes",
    columns={"mounts": (Column(width=6, priority=1),)},
    json="inodes_used_pct",
)

DISK = Subject(
    name="disk",
    title="Disks",
    rows=lambda frame: frame.derived.disks,
    json="disks",
    labels={"device": NAME.value},
    fields=(NAME, READ, WRITE, READS, WRITES, QUEUE, LATENCY, BUSY),
)
MOUNT = Subject(
    name="mount",
    title="File systems",
    rows=lambda frame: frame.derived.mounts,
    json="mounts",
    labels={"mountpoint": MOUNT_POINT.value},
    fields=(MOUNT_POINT, TYPE, USED, FREE, INODES),
)
