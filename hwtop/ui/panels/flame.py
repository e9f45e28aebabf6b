"""The flame: where the samples of one rank fell, root on top."""

from __future__ import annotations

from hwtop.ui.view import View
from hwtop.ui.widgets.box import box
from hwtop.ui.widgets.line import Line


def draw(view: View, width: int, height: int) -> list[Line]:
    """One box a function, as wide as its share of the samples."""
    return box([Line("◌ no samples yet", "dim")], width, height, Line("Flame", "title"), Line())
