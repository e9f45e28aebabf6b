"""Where the panels about stacks stand: of now on the stacks page, of the last minute on the flame page. Pure."""

from __future__ import annotations

from hwtop.ui import flame_view
from hwtop.ui.pages import ranks as ranks_page
from hwtop.ui.pages.place import SMALL, WIDE, Place, stack
from hwtop.ui.panels import conclusion, flame, stack_tree, stacks
from hwtop.ui.view import View

_FLAME_LEAST, _FLAME_BESIDE = 80, 110
"""Cells from which functions have boxes, and from which the list of the hottest path stands beside them."""


def arrange(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The conclusion on top; below it the tree of all ranks and the stack of one, beside each other where there is room."""
    room = bottom - top
    said = min(conclusion.least(view, width), room // 2)
    if room >= SMALL:
        said = max(said, min(conclusion.wanted(view, width), room // 3))
    left = room - said
    places = stack([("conclusion", said)], top, width)
    if width >= WIDE:
        main = width * 11 // 20
        places["stack-tree"] = Place(0, top + said, main, left)
        return places | {"stack": Place(main, top + said, width - main, left)}
    half = left // 2
    tree = min(stack_tree.wanted(view, width), max(half, left - stacks.wanted(view, width)))
    return places | stack([("stack-tree", tree), ("stack", left - tree)], top + said, width)


def arrange_flame(view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
    """The boxes with the hottest path beside or below them; in a narrow terminal, where no name fits a box, the way alone."""
    room = bottom - top
    if flame_view.flame_of(view) is None and view.job is not None:
        why = min(flame.wanted_why(view, width), room * 2 // 3)
        return stack([("flame-path", why)], top, width) | ranks_page.one_rank(Place(0, top + why, width, room - why))
    if width < _FLAME_LEAST:
        return stack([("flame-path", room)], top, width)
    if width >= _FLAME_BESIDE:
        side = min(80, width * 2 // 5)
        return {
            "flame": Place(0, top, width - side, room),
            "flame-path": Place(width - side, top, side, room),
        }
    path = min(flame.wanted_path(view, width), room - min(flame.wanted(view, width), room * 2 // 3))
    return stack([("flame", room - path), ("flame-path", path)], top, width)
