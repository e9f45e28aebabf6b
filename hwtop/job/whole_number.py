"""Whole numbers in text that a job, its user or another program wrote."""

from __future__ import annotations

_DIGITS = 18
"""All numbers of so many digits fit into 64 bits, which is what JSON and MessagePack hold."""


def whole_number(text: str | None, digits: int = _DIGITS) -> int | None:
    """The number that `text` is; None where it is none, or has more than so many digits.

    `str.isdigit` is also true of digits that `int` refuses ("²"), and `int` refuses more than 4,300 digits.
    """
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None
