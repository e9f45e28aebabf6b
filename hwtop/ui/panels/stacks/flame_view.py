"""The selected box of the flame, the way from one to the next, and what the flame says in a sentence. Pure."""

from __future__ import annotations

from dataclasses import replace

from hwtop.job.stacks.frames import place
from hwtop.model.flame import Flame, FlameNode
from hwtop.ui.view import View


def key(node: FlameNode) -> str:
    """What a box keeps from frame to frame; the hottest line of a function may change."""
    return f"{node.frame.name} {node.frame.filename}"


def flame_of(view: View) -> Flame | None:
    """The flame of the rank on this page; None as long as there is only another one's, or none."""
    flame = view.job.stacks.flame if view.job else None
    rank = view.shown_rank
    return flame if flame is not None and rank is not None and flame.rank == rank.rank and flame.roots else None


def way(flame: Flame, keys: tuple[str, ...]) -> list[FlameNode]:
    """The nodes along `keys`, as far as they still are there."""
    found: list[FlameNode] = []
    nodes = flame.roots
    for wanted in keys:
        node = next((node for node in nodes if key(node) == wanted), None)
        if node is None:
            break
        found.append(node)
        nodes = node.children
    return found


def hottest(nodes: tuple[FlameNode, ...]) -> list[FlameNode]:
    """From here down, the way that most samples went."""
    found: list[FlameNode] = []
    while nodes:
        found.append(nodes[0])
        nodes = nodes[0].children
    return found


def selected(view: View, flame: Flame) -> list[FlameNode]:
    """The way to the selected box: what was chosen as far as it is there, else the root."""
    return way(flame, view.flame_at) or [flame.roots[0]]


def zoom(view: View, flame: Flame) -> list[FlameNode]:
    """The way to the box that is drawn at full width; empty = all."""
    return way(flame, view.flame_at)[: view.flame_zoom]


def moved(view: View, right: int, down: int) -> View:
    """The box in this direction is selected: down to the hottest that it called, up to its caller, and to its siblings."""
    flame = flame_of(view)
    if flame is None:
        return view
    here = selected(view, flame)
    if down > 0 and here[-1].children:
        here = [*here, here[-1].children[0]]
    elif down < 0 and len(here) > max(1, view.flame_zoom):
        here = here[:-1]
    elif right and len(here) > view.flame_zoom:
        siblings = here[-2].children if len(here) > 1 else flame.roots
        at = siblings.index(here[-1]) + right
        here = [*here[:-1], siblings[max(0, min(len(siblings) - 1, at))]]
    return replace(view, flame_at=tuple(key(node) for node in here))


def chosen(view: View, node: FlameNode) -> View:
    """This box is selected; the zoom is taken back as far as it hides it."""
    flame = flame_of(view)
    keys = _way_to(flame.roots, node) if flame is not None else ()
    if not keys:
        return view
    return replace(view, flame_at=keys, flame_zoom=min(view.flame_zoom, len(keys)))


def _way_to(nodes: tuple[FlameNode, ...], wanted: FlameNode) -> tuple[str, ...]:
    """The keys from the root to this very node; () where it is not below these."""
    for node in nodes:
        if node is wanted:
            return (key(node),)
        if below := _way_to(node.children, wanted):
            return (key(node), *below)
    return ()


def zoomed(view: View) -> View:
    """The selected box at full width."""
    flame = flame_of(view)
    if flame is None:
        return view
    here = selected(view, flame)
    return replace(view, flame_at=tuple(key(node) for node in here), flame_zoom=len(here))


def unzoomed(view: View) -> View | None:
    """The whole flame again, the selection kept; None when it is whole."""
    if view.page != "flame" or not (view.flame_zoom or view.flame_at):
        return None
    return replace(view, flame_zoom=0, flame_at=view.flame_at if view.flame_zoom else ())


def reported(flame: Flame, node: FlameNode) -> str:
    """ "62% (74 of 120 samples) in train.py:291 train"."""
    return f"{100 * node.samples / max(1, flame.samples):.0f}% ({node.samples} of {flame.samples} samples) in {place(node.frame)}"


def sentence(view: View) -> str:
    """The innermost user function on the hottest path, and what it waits or works in."""
    flame = flame_of(view)
    if flame is None:
        return view.frame.verdict.text
    way_down = hottest(flame.roots)
    user = next((node for node in reversed(way_down) if node.is_user), way_down[0])
    text = f"rank {flame.rank}: {reported(flame, user)} over {flame.window_s:.0f} s"
    below = way_down[-1]
    return text if below is user else f"{text}, of these {below.samples} in {place(below.frame)}"
