"""A line of the terminal that the next one overwrites."""

from __future__ import annotations

import sys

from hwtop.job.log.text import visible

_MOST_CHARS = 100
"""Of it that are shown: a longer one would wrap, and stay."""


def show(text: str) -> None:
    """On standard error, where that is a terminal; "" clears it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{visible(text)[:_MOST_CHARS]}")
        sys.stderr.flush()
