"""What an open file is to a training job, told by its name and mode alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from hwtop.lazy_regex import lazy_regex
from hwtop.model.process import OpenFile

FileKind = Literal["log", "data", "output", "socket", "pipe", "device", "memory", "terminal", "event", "other"]
"""data: read from a disk. output: written to one. memory: shared memory. event: the kernel's own (epoll, timers, ...)."""

_LOG = lazy_regex(r"\.(?:log|out|err|txt|jsonl)(?:\.\d+)?$|/(?:stdout|stderr)$|/events\.out\.tfevents\.")
_TERMINAL = lazy_regex(r"/dev/(?:pts/|tty|console|ptmx)")
_MEMORY = lazy_regex(r"/dev/shm/|/memfd:|/SYSV|/dmabuf:|/dev/zero")
_DELETED = " (deleted)"


def kind(file: OpenFile, followed: Collection[str] = ()) -> FileKind:
    """`followed` are paths of logs that hwtop reads."""
    target = file.target.removesuffix(_DELETED)
    if target.startswith("socket:"):
        return "socket"
    if target.startswith("pipe:"):
        return "pipe"
    if not target.startswith("/"):
        return "event" if target.startswith("anon_inode:") else "other"
    if target in followed or (file.is_writable and _LOG.search(target)):
        return "log"
    if _TERMINAL.match(target):
        return "terminal"
    if _MEMORY.match(target):
        return "memory"
    if target.startswith(("/dev/", "/proc/", "/sys/")):
        return "device"
    return "output" if file.is_writable else "data"


def is_deleted(file: OpenFile) -> bool:
    """Whether its name is gone from the disk, while its room is taken until it is closed."""
    return file.target.endswith(_DELETED)
