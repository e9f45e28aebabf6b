"""Log origin: since when a file can hold what stands in it, as its birth and those who have it open tell.

A shell, a scheduler or a script that starts one job after the other passes its own output on to each of them: then the file
holds what earlier jobs wrote. statx(2) tells when the file was made; /proc/PID/fd and fdinfo (proc(5)) tell who has it open.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from contextlib import suppress

from hwtop.collectors.process.files import read_bytes, read_stat

_MOST_ANCESTORS = 16
_MOST_FDS = 1024
_MOST_PIDS = 4
"""Of one output: the ranks of a node have the same parents."""
_STATX_BYTES = 256
_STATX_BTIME = 0x800
_BTIME_AT = 80
"""Offset of stx_btime in struct statx: 8 bytes of seconds, 4 of nanoseconds (linux/stat.h)."""
_AT_EMPTY_PATH = 0x1000


def content_since_s(path: str, fd: int, pids: Sequence[int], proc: str, boot_s: float) -> float:
    """No text in the file is older than this (seconds after the epoch); minus infinity where nothing tells.

    Who opens a file to write, and not to append, empties it: then the text is no older than the oldest process that has it
    open. `fd` is open on the file, `pids` write it. May block on a process in uninterruptible sleep.
    """
    opened = [since_s for pid in pids[:_MOST_PIDS] if (since_s := _opened_s(path, pid, proc, boot_s)) is not None]
    known = [since_s for since_s in (born_s(fd), min(opened, default=None)) if since_s is not None]
    return max(known, default=float("-inf"))


def born_s(fd: int) -> float | None:
    """When the open file was made, seconds after the epoch; None where its file system does not keep that."""
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return None
    answer = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(fd, b"", _AT_EMPTY_PATH, _STATX_BTIME, answer) != 0:
        return None
    (mask,) = struct.unpack_from("=I", answer)
    seconds, nanoseconds = struct.unpack_from("=qI", answer, _BTIME_AT)
    return float(seconds) + nanoseconds / 1e9 if mask & _STATX_BTIME and seconds > 0 else None


def _opened_s(path: str, pid: int, proc: str, boot_s: float) -> float | None:
    """Start of the oldest among a process and those above it that have the file open; None where one appends to it."""
    oldest: float | None = None
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    for _ in range(_MOST_ANCESTORS):
        with suppress(OSError, ValueError):
            stat = read_stat(f"{proc}/{pid}")
            flags = _flags(f"{proc}/{pid}", path)
            if flags is not None:
                if flags & os.O_APPEND:
                    return None
                oldest = boot_s + stat.start_ticks / ticks_per_s
            pid = stat.ppid
            if pid > 1:
                continue
        break
    return oldest


def _flags(process: str, path: str) -> int | None:
    """Open flags of its descriptor of this file that is written to; None where it has none, or may not be looked at."""
    with suppress(OSError):
        for name in sorted(os.listdir(f"{process}/fd"), key=int)[:_MOST_FDS]:
            with suppress(OSError):
                if os.readlink(f"{process}/fd/{name}") != path:
                    continue
                lines = read_bytes(f"{process}/fdinfo/{name}").splitlines()
                flags = next((int(line.split()[1], 8) for line in lines if line.startswith(b"flags:")), os.O_RDONLY)
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    return flags
    return None
