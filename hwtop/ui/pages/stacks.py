"""The stacks page: where in its code each rank is now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.model.plan import UserFocus
from hwtop.ui.keys.action import Action, Offer
from hwtop.ui.pages.page import Cell, Companion, Page, PagePanel, PlacesOf, Size, focus_on_shown, selecting_rank
from hwtop.ui.panels.stacks import conclusion
from hwtop.ui.panels.stacks import stack as stacks
from hwtop.ui.panels.stacks import tree as stack_tree
from hwtop.ui.reducers import ranks as rank_moves
from hwtop.ui.view import View
from hwtop.ui.widgets.place import SMALL, WIDE, Place, stack


def _in_tree(view: View, at: Cell, size: Size) -> View:
    rank = stack_tree.rank_at(view, at[1], size[1])
    return view if rank is None else replace(view, selected=rank)


class StacksPage(Page):
    """What the stacks say together, the tree of all ranks, and the stack of one."""

    name = "stacks"
    title = "Stacks"
    tab = Action("stacks", "3,b", "stacks", "Where in its code each rank is")
    panels = {
        "conclusion": PagePanel(conclusion.draw, wheel=rank_moves.stepped),
        "stack-tree": PagePanel(stack_tree.draw, click=_in_tree, wheel=rank_moves.stepped),
        "stack": PagePanel(stacks.draw, hidden=stacks.hidden),
    }
    main = ("stack-tree",)
    companions = (Companion("stack-tree", "ranks"), Companion("stack", "logs"))
    scrolling = ("stack",)
    lists = frozenset({"left", "right", "deep"})

    def arrange(self, view: View, top: int, bottom: int, width: int) -> dict[str, Place]:
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

    def move(self, view: View, right: int, down: int, places: PlacesOf) -> View:
        """Another rank, or the next group of stacks."""
        view = selecting_rank(view)
        return rank_moves.next_group(view, right) if right else super().move(view, right, down, places)

    def offers(self, view: View) -> Sequence[Offer]:  # noqa: ARG002
        """Its keys in the footer."""
        return (
            (("down", "up"), "rank"),
            (("left", "right"), "group"),
            (("deep",), "deep look"),
            (("page-down", "page-up"), "scroll"),
        )

    def user_focus(self, view: View) -> UserFocus:
        """The rank on the page."""
        return focus_on_shown(view)

    def copied(self, view: View) -> str:
        """What the stacks say together."""
        return conclusion.said(view)
