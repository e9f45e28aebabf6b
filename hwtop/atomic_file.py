"""Atomic file: what hwtop writes of its own stands there whole or not at all, for the person's eyes only."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path


def write(place: Path, content: bytes) -> None:
    """Put `content` at `place` in one step; a file that was there passes on its rights and owner. Folders are made.

    Written first is a new file of another name: never through a link that somebody else has put there.

    Raises:
        OSError: it cannot be written; what was there is as it was.
    """
    old = _rights(place)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, new = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".new", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if old is not None:
                os.fchmod(handle, stat.S_IMODE(old.st_mode))
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.fchown(handle, old.st_uid, old.st_gid)
            file.flush()
            os.fsync(handle)
        os.replace(new, place)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)  # noqa: PTH108
        raise


def _rights(place: Path) -> os.stat_result | None:
    """Those of the file that is there; None where there is none, or a link, which is replaced.

    Raises:
        OSError: it is no file. For root, `--config /dev/null` must not end that device.
    """
    try:
        old = place.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(old.st_mode):
        return old
    if stat.S_ISLNK(old.st_mode):
        return None
    raise OSError(errno.EINVAL, "no ordinary file")
