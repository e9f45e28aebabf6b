"""Log pipe: who reads the pipe that a job's output goes to, and which file it writes (`python train.py | tee train.log`)."""

from __future__ import annotations

import os
from contextlib import suppress

from msgspec import Struct

_MOST_PIDS = 20_000
_READ_ONLY = 0
_ACCESS_MODE = 3


class PipeReader(Struct, frozen=True):
    """The process at the other end."""

    pid: int
    comm: str
    file: str | None
    """The one regular file that it has open for writing, as tee has."""


def find_reader(proc: str, target: str, writers: tuple[int, ...]) -> PipeReader | None:
    """The process that holds the read end of `target` ("pipe:[123]"); None when none is visible.

    Walks all processes once: call it where it can be abandoned, and keep the answer.
    """
    for name in sorted(filter(str.isdigit, os.listdir(proc)), key=int, reverse=True)[:_MOST_PIDS]:
        pid = int(name)
        if pid in writers or not _reads(f"{proc}/{pid}", target):
            continue
        with open(f"{proc}/{pid}/comm", encoding="utf-8", errors="replace") as file:
            comm = file.read().strip()
        return PipeReader(pid, comm, _written_file(f"{proc}/{pid}"))
    return None


def _reads(process: str, target: str) -> bool:
    for fd in _fds(process):
        if _target(process, fd) == target and _flags(process, fd) & _ACCESS_MODE == _READ_ONLY:
            return True
    return False


def _written_file(process: str) -> str | None:
    """What it opened itself (tee), else its standard output (`| cat > train.log`); its errors go elsewhere."""
    fds = _fds(process)
    opened = {path for fd in fds if fd not in {"0", "1", "2"} and (path := _written(process, fd)) is not None}
    if opened:
        return opened.pop() if len(opened) == 1 else None
    return _written(process, "1")


def _written(process: str, fd: str) -> str | None:
    path = _target(process, fd)
    is_file = path.startswith("/") and not path.startswith(("/dev/", "/proc/", "/sys/"))
    return path if is_file and _flags(process, fd) & _ACCESS_MODE != _READ_ONLY else None


def _fds(process: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(f"{process}/fd")
    return []


def _target(process: str, fd: str) -> str:
    with suppress(OSError):
        return os.readlink(f"{process}/fd/{fd}")
    return ""


def _flags(process: str, fd: str) -> int:
    """Open flags as proc(5) fdinfo gives them, octal; 0 (read only) where they cannot be read."""
    with suppress(OSError, ValueError), open(f"{process}/fdinfo/{fd}") as file:
        for line in file:
            if line.startswith("flags:"):
                return int(line.split()[1], 8)
    return 0
