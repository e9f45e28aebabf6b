"""Which box of the flame is selected, and which one has its full width. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.model.flame import FlameNode
from hwtop.ui.panels.stacks.flame_view import flame_of, key, selected
from hwtop.ui.panels.stacks.state import FlameState
from hwtop.ui.view import View


def moved(view: View, right: int, down: int) -> View:
    """The box in this direction is selected: down to the hottest that it called, up to its caller, and to its siblings."""
    flame, state = flame_of(view), view.state(FlameState)
    if flame is None:
        return view
    here = selected(view, flame)
    if down > 0 and here[-1].children:
        here = [*here, here[-1].children[0]]
    elif down < 0 and len(here) > max(1, state.zoom):
        here = here[:-1]
    elif right and len(here) > state.zoom:
        siblings = here[-2].children if len(here) > 1 else flame.roots
        at = siblings.index(here[-1]) + right
        here = [*here[:-1], siblings[max(0, min(len(siblings) - 1, at))]]
    return view.with_state(replace(state, way=_keys(here)))


def chosen(view: View, node: FlameNode) -> View:
    """This box is selected; the zoom is taken back as far as it hides it."""
    flame, state = flame_of(view), view.state(FlameState)
    way = _way_to(flame.roots, node) if flame is not None else ()
    return view.with_state(FlameState(way, zoom=min(state.zoom, len(way)))) if way else view


def _way_to(nodes: tuple[FlameNode, ...], wanted: FlameNode) -> tuple[str, ...]:
    """The keys from the root to this very node; () where it is not below these."""
    for node in nodes:
        if node is wanted:
            return (key(node),)
        if below := _way_to(node.children, wanted):
            return (key(node), *below)
    return ()


def _keys(nodes: list[FlameNode]) -> tuple[str, ...]:
    return tuple(key(node) for node in nodes)


def zoomed(view: View) -> View:
    """The selected box at full width."""
    flame = flame_of(view)
    if flame is None:
        return view
    here = selected(view, flame)
    return view.with_state(FlameState(_keys(here), zoom=len(here)))


def unzoomed(view: View) -> View | None:
    """The whole flame again, the selection kept; then nothing selected; None when it is whole."""
    state = view.state(FlameState)
    return None if state == FlameState() else view.with_state(FlameState(state.way) if state.zoom else FlameState())
