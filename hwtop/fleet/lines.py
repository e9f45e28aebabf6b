"""The bytes of several agents in one text stream, for launchers that mix the output of all nodes.

`srun` hands over whole lines of at most 1,024 bytes (SLURM_IO_MAX_MSG_LEN, src/common/io_hdr.h) and cuts longer ones, so a line is
shorter, and names its node: `@hwtop NODE BASE64`. All other lines are noise.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

LONGEST_LINE = 1023
"""Bytes with the newline. Source: Slurm's SLURM_IO_MAX_MSG_LEN."""
LONGEST_NAME = 255
"""Of a node, in bytes. Source: POSIX HOST_NAME_MAX of Linux is 64; pods may have 253 (RFC 1123)."""
_MARK = b"@hwtop "


def lines(node: str, data: bytes) -> Iterator[bytes]:
    """`data` of this node as lines."""
    head = _MARK + node.encode()[:LONGEST_NAME] + b" "
    room = (LONGEST_LINE - len(head) - 1) // 4 * 3
    for start in range(0, len(data), room):
        yield head + binascii.b2a_base64(data[start : start + room])


class LineReader:
    """The text stream back to the bytes of each node."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._rest = b""

    def take(self, data: bytes) -> Iterator[tuple[str | None, bytes]]:
        """(node, its next bytes); (None, text) for a line of noise."""
        *complete, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            complete.append(self._rest[:LONGEST_LINE])
            self._rest = b""
        for line in complete:
            yield _taken(line)


def _taken(line: bytes) -> tuple[str | None, bytes]:
    if line.startswith(_MARK):
        name, _, text = line[len(_MARK) :].partition(b" ")
        try:
            return name.decode(), base64.b64decode(text, validate=True)
        except ValueError:  # also of base64 and UTF-8
            pass
    return None, line
