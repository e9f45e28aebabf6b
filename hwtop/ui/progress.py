"""What hwtop is busy with, where that takes longer than a blink: a word for the top row. Pure."""

from __future__ import annotations

from hwtop.ui.view import View

_PATIENCE_S = 60.0
"""A rank without a stack for so long is none that a stack comes from."""


def word(view: View) -> str:
    """ "stacks 3 of 8 …", "attaching to 4100 …"; "" where everything is there."""
    if view.is_picking:
        return f"attaching to {view.attaching} …" if view.attaching is not None else ""
    job = view.job
    if job is None:
        return "looking for the job …" if view.frame.derived.candidates is None else ""
    alive = [rank for rank in job.ranks if rank.is_alive]
    there = sum(rank.stack.dump is not None for rank in alive)
    if there < len(alive) and view.frame.watched_s < _PATIENCE_S:
        return f"stacks {there} of {len(alive)} …"
    return ""
