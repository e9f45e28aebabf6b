"""Rows of text in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Align = Callable[[str, int], str]
"""`str.ljust` or `str.rjust`."""


def aligned(rows: Sequence[Sequence[str]], *, first: Align = str.ljust, others: Align = str.ljust) -> list[str]:
    """A line a row, with two blanks between the columns; the last column is no wider than its text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            (first if at == 0 else others)(cell, width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
