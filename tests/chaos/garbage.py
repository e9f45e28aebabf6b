"""Garbage: a reading of the right types with values that no machine has."""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

NUMBERS: dict[type, tuple[Any, ...]] = {
    int: (0, -1, 1, 2**31, 2**62, -(2**62)),
    float: (0.0, -1.0, 1e15, -1e15, 1e-300),
}
"""Finite: no source makes infinity or NaN of what it reads."""
TEXTS = (
    "",
    " ",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202eevil\u2066",
    "\udcff.txt",
    "数" * 300,
    "a\nb\x00\x7f\x9b",
    "/" * 2000,
)
_FREE = frozenset({"command", "comm", "text", "name", "wchan", "user", "reason", "model_name", "target", "mount_point"})
"""Fields in which any text may stand."""
_KEPT = frozenset({"at_s", "time_s"})
"""When a reading was taken is hwtop's own clock."""


def garbled(value: Any, dice: random.Random, share: float) -> Any:
    """`value` with about this share of its numbers and texts replaced, and some of its lists shortened."""
    if isinstance(value, Struct):
        names = [name for name in value.__struct_fields__ if name not in _KEPT]
        return replace(value, **{name: garbled(getattr(value, name), dice, share) for name in names})
    if isinstance(value, tuple):
        is_list = bool(value) and isinstance(value[0], Struct)
        kept = value[: dice.randint(0, len(value))] if is_list and dice.random() < share else value
        return tuple(garbled(each, dice, share) for each in kept)
    if isinstance(value, dict):
        return {key: garbled(each, dice, share) for key, each in value.items()}
    if isinstance(value, bool) or value is None or dice.random() >= share:
        return value
    return dice.choice(NUMBERS.get(type(value), (value,)))


def hostile(value: Any, dice: random.Random, share: float) -> Any:
    """`value` with texts replaced, where any text may stand."""
    if isinstance(value, Struct):
        return replace(
            value,
            **{
                name: dice.choice(TEXTS)
                if name in _FREE and isinstance(now, str) and dice.random() < share
                else hostile(now, dice, share)
                for name in value.__struct_fields__
                if (now := getattr(value, name)) is not None
            },
        )
    return tuple(hostile(each, dice, share) for each in value) if isinstance(value, tuple) else value
