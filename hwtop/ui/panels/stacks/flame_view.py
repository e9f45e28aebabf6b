"""The selected box of the flame, and what the flame says in a sentence. Pure."""

from __future__ import annotations

from hwtop.job.stacks.frames import place
from hwtop.model.flame import Flame, FlameNode
from hwtop.ui.panels.stacks.state import FlameState
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
    """The way to the selected box: what was chosen as far as it is there, else the user's innermost function on the hottest path."""
    return way(flame, view.state(FlameState).way) or _of_user(hottest(flame.roots))


def _of_user(path: list[FlameNode]) -> list[FlameNode]:
    """The path down to the last function of the user's code; to its start where none is."""
    last = max((place for place, node in enumerate(path) if node.is_user), default=0)
    return path[: last + 1]


def zoom(view: View, flame: Flame) -> list[FlameNode]:
    """The way to the box that is drawn at full width; empty = all."""
    state = view.state(FlameState)
    return way(flame, state.way)[: state.zoom]


def reported(flame: Flame, node: FlameNode) -> str:
    """ "62% (74 of 120 samples) in train.py:291 train"."""
    return f"{100 * node.samples / max(1, flame.samples):.0f}% ({node.samples} of {flame.samples} samples) in {place(node.frame)}"


def sentence(view: View) -> str:
    """The innermost user function on the hottest path, and what it waits or works in."""
    flame = flame_of(view)
    if flame is None:
        return view.frame.verdict.text
    way_down = hottest(flame.roots)
    user = _of_user(way_down)[-1]
    text = f"rank {flame.rank}: {reported(flame, user)} over {flame.window_s:.0f} s"
    below = way_down[-1]
    return text if below is user else f"{text}, of these {below.samples} in {place(below.frame)}"
