"""The same log file under the descriptors of the processes that write it. Each call may block."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from hwtop.collectors.logs.output import Output
from hwtop.collectors.logs.pipe import fds, open_flags
from hwtop.collectors.logs.tail import DELETED

_MOST_FDS = 64
"""Of a process, looked at for a log; outputs are opened first."""


def other_names(proc: str, output: Output) -> Sequence[str]:
    """Names of the same file under which it may be opened when its path does not work."""
    names: list[str] = []
    for pid in (*output.through, *output.pids[:4]):
        if output.path.endswith(DELETED):
            with suppress(OSError):
                names.extend(
                    f"{proc}/{pid}/fd/{fd}" for fd in os.listdir(f"{proc}/{pid}/fd") if _is(proc, pid, fd, output)
                )
        else:
            names.append(f"{proc}/{pid}/root{output.path}")
    return names


def is_open(proc: str, output: Output, status: os.stat_result) -> bool:
    """Whether a process of the job, or one that writes for it, has this very file open to write. May block.

    To write, as O_PATH opens what one may not read.
    """
    for process in (f"{proc}/{pid}" for pid in (*output.through, *output.pids[:4])):
        for fd in fds(process)[:_MOST_FDS]:
            if open_flags(process, fd) & os.O_ACCMODE == os.O_RDONLY:
                continue
            with suppress(OSError):
                opened = os.stat(f"{process}/fd/{fd}")
                if (opened.st_dev, opened.st_ino) == (status.st_dev, status.st_ino):
                    return True
    return False


def _is(proc: str, pid: int, fd: str, output: Output) -> bool:
    with suppress(OSError):
        return os.readlink(f"{proc}/{pid}/fd/{fd}") == output.path
    return False
