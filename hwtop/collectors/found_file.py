"""Found file: one that hwtop was led to by a job's environment, descriptors or folders, not by the person who runs hwtop.

Others can put something else in its place: a device or FIFO that blocks, a file of their own, a link to a file that only root may
read. So it is judged after it was opened (open(2) with O_NONBLOCK, fstat(2)), and what is read of it is bounded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
Judge = Callable[[os.stat_result, int | None], str | None]
"""(status of an open file, user) -> why it is refused."""
_BLOCK_BYTES = 1 << 20


class RefusedFileError(OSError):
    """It is not read; the message says why, without its path."""


def untrusted(status: os.stat_result, uid: int | None) -> str | None:
    """Why the content of an open file proves nothing about the processes of user `uid`: anybody may have written it."""
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    owners = {0, os.geteuid(), os.geteuid() if uid is None else uid}
    if status.st_uid not in owners:
        return f"it belongs to another user (uid {status.st_uid}), who may write anything into it"
    return unreadable_for(status, uid)


def unreadable_for(status: os.stat_result, uid: int | None) -> str | None:
    """Why an open file must not be shown: hwtop may read it, as root, and the user `uid` of the job may not."""
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if os.geteuid() != 0 or uid == 0 or status.st_uid == uid or status.st_mode & stat.S_IROTH:
        return None
    return "the user of the job may not read it: it is not shown to root either"


def open_found(path: str, uid: int | None, judge: Judge = untrusted) -> int:
    """Descriptor of a regular file whose content counts for the processes of user `uid`; None: of the user who runs hwtop.
    `judge`: whether it must be trusted, or only be readable for them.

    May block on a dead mount.

    Raises:
        OSError: it cannot be opened, or is refused (`RefusedFileError`).
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a device may do something
        raise RefusedFileError("not a regular file")
    fd = os.open(path, FLAGS)
    reason = judge(os.fstat(fd), uid)
    if reason is not None:
        os.close(fd)
        raise RefusedFileError(reason)
    return fd


def read_found(path: str, uid: int | None, most_bytes: int) -> tuple[bytes, os.stat_result]:
    """The first `most_bytes` of such a file, and its status. As `open_found`."""
    fd = open_found(path, uid)
    try:
        parts: list[bytes] = []
        left = most_bytes
        while left > 0 and (part := os.read(fd, min(left, _BLOCK_BYTES))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts), os.fstat(fd)
    finally:
        os.close(fd)
