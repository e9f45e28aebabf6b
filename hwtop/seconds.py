"""Durations as users write them."""

from __future__ import annotations

import re

_FORM = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|min|h)?", re.ASCII)
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


def seconds(text: str) -> float | None:
    """20, 20s, 500ms, 2m or 1h in seconds; None for anything else."""
    match = _FORM.fullmatch(text.strip())
    return float(match[1]) * _UNIT_S[match[2]] if match else None
