"""How nodes are named in sentences. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.log.text import visible

_SHOWN = 3
"""Nodes that a sentence names; of more it gives the number, too."""


def named_nodes(names: Sequence[str]) -> str:
    """ "node-b", "nodes a and b", "12 nodes (a, b, c, ...)"."""
    shown = [visible(name) for name in names]
    if len(shown) == 1:
        return f"node {shown[0]}"
    if len(shown) <= _SHOWN:
        return f"nodes {', '.join(shown[:-1])} and {shown[-1]}"
    return f"{len(shown)} nodes ({', '.join(shown[:_SHOWN])}, …)"
