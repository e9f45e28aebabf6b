"""What holds of every picture: its panels cover the screen, each cell once."""

from __future__ import annotations

from hwtop.ui.pages.layout import arrange
from hwtop.ui.view import View


def assert_covers(view: View, size: tuple[int, int]) -> None:
    """No gap, no overlap, nothing beside the screen."""
    covered = [[0] * size[0] for _ in range(size[1])]
    for place in arrange(view, *size).values():
        for y in range(place.y, place.y + place.height):
            for x in range(place.x, place.x + place.width):
                covered[y][x] += 1
    assert covered == [[1] * size[0]] * size[1]
