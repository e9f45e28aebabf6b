"""The open files of a process, and the one that its main thread is blocked at (/proc/PID/fd, fdinfo and syscall, proc(5)). As in `files.py`
every function takes the process's directory and may raise OSError and ValueError."""

from __future__ import annotations

import os
import select
import struct
from collections.abc import Sequence

from hwtop.collectors.process.files import read_bytes, read_record
from hwtop.collectors.process.system_calls import NAMES, OF_DESCRIPTOR
from hwtop.job.log.name import is_log_name
from hwtop.job.metrics.files import kind_of
from hwtop.model.process import OpenFile, SystemCall

_FD_LINK_LIMIT = 1024
_FILE_LIMIT = 64
_POLLS = frozenset({"poll", "ppoll"})
_POLLFD = struct.Struct("=ihh")
"""poll(2)."""
_NO_REGULAR_FILES = ("/dev/", "/proc/", "/sys/", "/memfd:", "/SYSV", "/dmabuf:", "/[")


def read_call(directory: str) -> SystemCall | None:
    """What the main thread is blocked in. Refused without the right to trace; waits while an exec is under way."""
    words = read_record(f"{directory}/syscall").split()
    name = NAMES.get(int(words[0])) if len(words) > 1 and words[0].isdigit() else None
    if name is None:
        return None
    fd = _polled(directory, words) if name in _POLLS else int(words[1], 16) if name in OF_DESCRIPTOR else None
    if fd is None:
        return SystemCall(name=name)
    try:
        target = os.readlink(f"{directory}/fd/{fd}")
    except OSError:
        target = None
    return SystemCall(name=name, fd=fd, target=target)


def _polled(directory: str, words: Sequence[bytes]) -> int | None:
    """The one descriptor that poll(2) waits to read from; None where it waits for several, or to write. `words`: of `syscall`.

    Sockets with a timeout, connections of multiprocessing and queues wait so. The `struct pollfd` lies in the memory of the process.
    """
    if len(words) < 3 or int(words[2], 16) != 1:
        return None
    try:
        with open(f"{directory}/mem", "rb", buffering=0) as memory:
            memory.seek(int(words[1], 16))
            fd, events, _ = _POLLFD.unpack(memory.read(_POLLFD.size))
    except (OSError, OverflowError, struct.error):
        return None
    return int(fd) if events & select.POLLIN and fd >= 0 else None


def read_files(directory: str) -> tuple[int, tuple[OpenFile, ...]]:
    """How many descriptors are open; fd 0 to 2, logs and tables being written, and other regular files, at most 64 besides 0 to 2.

    What is written comes first: a job may map hundreds of shards before it opens its table of metrics.
    Only names are read, never the files behind them: those may be on a dead mount.
    """
    descriptors = sorted(int(name) for name in os.listdir(f"{directory}/fd"))
    standard: list[OpenFile] = []
    written: list[OpenFile] = []
    others: list[OpenFile] = []
    for descriptor in descriptors[:_FD_LINK_LIMIT]:
        try:
            target = os.readlink(f"{directory}/fd/{descriptor}")
        except OSError:
            continue
        is_log = is_log_name(target)
        if descriptor <= 2 or is_log:
            is_writable = _is_writable(directory, descriptor)
            file = OpenFile(fd=descriptor, target=target, is_writable=is_writable)
            (standard if descriptor <= 2 else written if is_writable else others).append(file)
        elif target.startswith("/") and not target.startswith(_NO_REGULAR_FILES):
            is_table = kind_of(target, is_written=True) is not None
            is_writable = is_table and _is_writable(directory, descriptor)
            file = OpenFile(fd=descriptor, target=target, is_writable=is_writable)
            (written if is_writable else others).append(file)
    rest = sorted((*written, *others)[:_FILE_LIMIT], key=lambda file: file.fd)
    return len(descriptors), (*standard, *rest)


def _is_writable(directory: str, descriptor: int) -> bool:
    try:
        lines = read_bytes(f"{directory}/fdinfo/{descriptor}").splitlines()
    except OSError:
        return False
    flags = next((int(line.split()[1], 8) for line in lines if line.startswith(b"flags:")), 0)
    return flags & os.O_ACCMODE != os.O_RDONLY
