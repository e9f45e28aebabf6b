"""Standard input and output as a channel of messages."""

from __future__ import annotations

import os
from typing import BinaryIO


def own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Both, for messages alone: all else that reads gets nothing, and all else that is printed goes to standard error, also of
    child processes."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink
