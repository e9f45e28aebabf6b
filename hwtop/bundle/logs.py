"""Logs in a bundle: beginning and end of each file that hwtop follows, and the lines that matter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from hwtop.collectors.found_file import open_found, unreadable_for
from hwtop.job.secrets import MASK
from hwtop.model.reported.log import LogLine

_PART_BYTES = 256 << 10
"""Of the beginning, and of the end."""
_KEY_END = re.compile(r"\A(?:(?!-----BEGIN )[\s\S])*-----END [A-Z ]{0,40}PRIVATE KEY-----")


def ends_of(path: str, uid: int | None) -> str:
    """The whole log, or its beginning and its end. Lines that are cut are left out: half a secret is not recognised.

    Raises:
        OSError: it cannot be read, or the user of the job may not read it.
    """
    fd = open_found(path, uid, unreadable_for)
    try:
        size = os.fstat(fd).st_size
        if size <= 2 * _PART_BYTES:
            return os.pread(fd, 2 * _PART_BYTES, 0).decode(errors="replace")
        head = os.pread(fd, _PART_BYTES, 0).rpartition(b"\n")[0]
        tail = os.pread(fd, _PART_BYTES, size - _PART_BYTES).partition(b"\n")[2]
    finally:
        os.close(fd)
    left_out = f"\n[{size - len(head) - len(tail):,} bytes are left out]\n"
    return head.decode(errors="replace") + left_out + _KEY_END.sub(MASK, tail.decode(errors="replace"))


def by_file(lines: Iterable[LogLine]) -> str:
    """The lines, each file below its name."""
    files: dict[str, list[str]] = {}
    for line in lines:
        number = "" if line.line_no is None else f"{line.line_no}: "
        files.setdefault(line.path, []).append(f"{number}{line.text}")
    return "\n\n".join("\n".join((f"== {path}", *texts)) for path, texts in files.items()) + "\n"
