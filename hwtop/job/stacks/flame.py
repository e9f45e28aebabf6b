"""The flame of one process: its samples as a tree of functions, each as wide as its share. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from hwtop.job.stacks.frames import is_plumbing, is_user_frame, short_name
from hwtop.model.evidence import NEARLY_ALL
from hwtop.model.flame import FlameNode
from hwtop.model.stack import StackFrame

KEPT_DEPTH = 100
"""Frames of one stack that are kept, from the root: a deep recursion is cut."""
KEPT_NODES = 2000
"""The narrowest functions are left out where there are more."""


def flame_roots(stacks: Mapping[tuple[StackFrame, ...], int]) -> tuple[FlameNode, ...]:
    """Stacks (leaf first) with the number of their samples, to the functions at the root, widest first.

    Library code is there, plumbing is not. A function that calls itself is a node below itself. A stack of nothing but
    plumbing counts nowhere, so the roots may hold fewer samples than were given.
    """
    top = _Node()
    for stack, count in stacks.items():
        node = top
        for frame in [frame for frame in reversed(stack) if not is_plumbing(frame)][:KEPT_DEPTH]:
            node = node.child(frame)
            node.lines[frame] += count
            node.samples += count
    return top.children_from(_least(top))


class _Node:
    def __init__(self) -> None:
        self.samples = 0
        self.lines: Counter[StackFrame] = Counter()
        self.below: dict[tuple[str, str], _Node] = {}

    def child(self, frame: StackFrame) -> _Node:
        key = (short_name(frame.name), frame.filename)
        found = self.below.get(key)
        if found is None:
            found = self.below[key] = _Node()
        return found

    def children_from(self, least: int) -> tuple[FlameNode, ...]:
        """Those with at least so many samples."""
        wide = sorted((node for node in self.below.values() if node.samples >= least), key=lambda node: -node.samples)
        return tuple(node.finished(least) for node in wide)

    def finished(self, least: int) -> FlameNode:
        (frame, most), *_ = self.lines.most_common(1)
        if self.below and most < NEARLY_ALL * self.samples:  # it calls from several lines
            frame = replace(frame, line=0, code=None)
        return FlameNode(
            frame=replace(frame, name=short_name(frame.name)),
            samples=self.samples,
            is_user=is_user_frame(frame),
            children=self.children_from(least),
        )

    def widths(self) -> list[int]:
        """Samples of every node below this one."""
        found = []
        for node in self.below.values():
            found.append(node.samples)
            found += node.widths()
        return found


def _least(top: _Node) -> int:
    """The number of samples from which on there are at most `KEPT_NODES` nodes."""
    widths = sorted(top.widths(), reverse=True)
    return widths[KEPT_NODES] + 1 if len(widths) > KEPT_NODES else 1
