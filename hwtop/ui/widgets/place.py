"""Rectangles of the screen, below and beside each other."""

from __future__ import annotations

from msgspec import Struct

WIDE = 150
"""From here the host has a column of its own."""
SMALL = 26
"""Rows between the top and the footer under which the host has one line without a frame."""


class Place(Struct, frozen=True):
    """A rectangle of the screen, in cells."""

    x: int
    y: int
    width: int
    height: int


def stack(rows: list[tuple[str, int]], top: int, width: int) -> dict[str, Place]:
    """Panels of these heights below each other from row `top` on; those without a height are left out."""
    places: dict[str, Place] = {}
    for name, height in rows:
        if height > 0:
            places[name] = Place(0, top, width, height)
            top += height
    return places


def row(names: tuple[str, ...], at: Place) -> dict[str, Place]:
    """Panels of the same width beside each other."""
    places: dict[str, Place] = {}
    x = at.x
    for number, name in enumerate(names):
        width = (at.width - (x - at.x)) // (len(names) - number)
        places[name] = Place(x, at.y, width, at.height)
        x += width
    return places
