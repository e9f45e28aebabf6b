"""Stacks of all ranks merged from the root: one node a frame, with the set of ranks that are in it.

The form is STAT's (Arnold et al., "Stack Trace Analysis for Large Scale Debugging", IPDPS 2007): where the tree branches, the
ranks part, and a branch with few ranks is where to look. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.model.job import StackGroup
from hwtop.model.stack import StackFrame


class TrieNode(Struct, frozen=True, kw_only=True):
    """One frame on the way from the root, and who is in it."""

    frame: StackFrame
    ranks: tuple[int, ...]
    children: tuple[TrieNode, ...] = ()
    """Most ranks first, then lowest rank first."""


def trie(groups: Sequence[StackGroup]) -> tuple[TrieNode, ...]:
    """The merged tree of groups as `stack_groups.group` makes them; one root where all ranks run the same program.

    Frames are one node where function, file and line are the same: two calls from one function part at that function.
    """
    return _nodes([(entry.ranks, entry.frames) for entry in groups if entry.frames])


def _nodes(paths: Sequence[tuple[tuple[int, ...], tuple[StackFrame, ...]]]) -> tuple[TrieNode, ...]:
    below: dict[tuple[str, str, int], list[tuple[tuple[int, ...], tuple[StackFrame, ...]]]] = {}
    for ranks, frames in paths:
        first = frames[0]
        below.setdefault((first.name, first.filename, first.line), []).append((ranks, frames))
    nodes = [
        TrieNode(
            frame=members[0][1][0],
            ranks=tuple(sorted(rank for ranks, _ in members for rank in ranks)),
            children=_nodes([(ranks, frames[1:]) for ranks, frames in members if len(frames) > 1]),
        )
        for members in below.values()
    ]
    return tuple(sorted(nodes, key=lambda node: (-len(node.ranks), node.ranks[0])))
