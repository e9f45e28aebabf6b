"""What is wrong with an answer of the RAS port."""

from __future__ import annotations


class RasError(ValueError):
    """It is no report; the message says why, in one line."""
