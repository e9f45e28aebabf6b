"""Shares of a whole, in percent."""

from __future__ import annotations


def percent(part: float | None, whole: float | None) -> float | None:
    """None where either is unknown, or the whole is nothing."""
    return None if part is None or not whole else 100 * part / whole
