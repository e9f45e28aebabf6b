"""Atomic file: files that hwtop writes are complete or not there at all, and only the user can read them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write(place: Path, content: bytes) -> None:
    """Put `content` at `place` in one step, as `write_parts` does."""
    write_parts(place, (content,))


def write_own(place: Path, content: bytes) -> None:
    """As `write`, in a folder of hwtop's own, which is created."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(place, content)


def write_parts(place: Path, parts: Iterable[bytes]) -> None:
    """Put all `parts` at `place` in one step; an existing file passes on its mode and owner.

    The content goes to a new file of another name first: never through a link that somebody else has created.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    old = _rights(place)
    handle, new = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".new", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
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
    """Mode and owner of the existing file; None if there is none, or only a link, which is replaced.

    Raises:
        OSError: it is not a regular file: for root, `--config /dev/null` must not replace that device.
    """
    try:
        old = place.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(old.st_mode):
        return old
    if stat.S_ISLNK(old.st_mode):
        return None
    raise OSError(errno.EINVAL, "not a regular file")
