"""Does a rank wait for somebody to type? A question that nobody sees is a hang. Pure."""

from __future__ import annotations

from hwtop.job.hang.rank_state import is_stuck
from hwtop.job.stacks.frames import own_frames, thread_of
from hwtop.lazy_regex import lazy_regex
from hwtop.model.rank import Rank
from hwtop.model.stack import StackFrame

_ASKS = lazy_regex(r"(?<![.\w])input\(|\bgetpass\(|\bstdin\.(?:read|readline|buffer\.read)\(")
"""Calls that end when a line of standard input comes; the prompts of libraries end in one of them."""


def prompt_of(rank: Rank) -> StackFrame | None:
    """The line of Python's main thread that asks; None where it does not, or has not for long enough. The interactive prompts of
    Python and its debugger are no such lines: somebody sits there."""
    thread = thread_of(rank)
    if thread is None or not is_stuck(rank):
        return None
    leaf = next(iter(own_frames(thread)), None)
    return leaf if leaf is not None and leaf.code is not None and _ASKS.search(leaf.code) else None
