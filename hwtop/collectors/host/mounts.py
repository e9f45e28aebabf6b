"""The table of mounts as /proc/PID/mountinfo lists it.

psutil.disk_partitions reports neither which mounts are one file system nor the mounts of another namespace.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hwtop.collectors.procfs import read_text
from hwtop.model.host.disk import MountReading

_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One line of mountinfo (proc_pid_mountinfo(5))."""

    device_id: str
    """"major:minor"; the same for all mounts of one file system."""
    root: str
    """Which directory of the file system is mounted."""
    mount_point: str
    fs_type: str
    source: str
    super_options: frozenset[str]


def parse_mountinfo(text: str) -> list[Mount]:
    """All lines that can be understood, in the kernel's order (a later mount hides an earlier one at the same place)."""
    mounts = []
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        fields, rest = left.split(" "), right.split(" ")
        if dash and len(fields) >= 5 and len(rest) >= 2:
            options = frozenset(rest[2].split(",")) if len(rest) > 2 else frozenset()
            mounts.append(
                Mount(fields[2], _unescaped(fields[3]), _unescaped(fields[4]), rest[0], _unescaped(rest[1]), options)
            )
    return mounts


def mounts_of(pid: int, proc: str = "/proc") -> tuple[MountReading, ...]:
    """What is mounted where for this process, without its sizes; empty where that is not readable."""
    try:
        table = parse_mountinfo(read_text(f"{proc}/{pid}/mountinfo"))
    except OSError:
        return ()
    return tuple(MountReading(mount_point=each.mount_point, device=each.source, fs_type=each.fs_type) for each in table)


def _unescaped(text: str) -> str:
    """Space, tab, newline and backslash are written as three octal digits."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)
