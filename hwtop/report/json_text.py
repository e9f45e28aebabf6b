"""JSON text that is safe to print: NaN and infinity become null, text of the machine is data."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from hwtop.job.log.text import storable, visible

LONGEST_TEXT = 2_000
"""Characters of a text that are printed; how many were left out stands behind them."""


def encode(value: object, *, indent: int = 2) -> str:
    """JSON text, safe to print on a terminal. `indent=0`: on one line."""
    text = msgspec.json.encode(plain(value))
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def plain(value: object) -> Any:
    """Structs as dicts, tuples as lists, without values that JSON does not have. Text comes from the machine, so it is data: control
    characters and marks that reverse the text after them are made visible, and what is very long is cut."""
    return _fit(msgspec.to_builtins(value))


def _fit(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_fit(key): _fit(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fit(entry) for entry in value]
    return value


def _text(value: str) -> str:
    left_out = len(value) - LONGEST_TEXT
    text = visible(storable(value[:LONGEST_TEXT]))
    return text if left_out <= 0 else f"{text}… ({left_out} more characters)"
