"""What the filter that is typed leaves of the table of this page. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from hwtop.ui import gpu_view, process_view, rank_view
from hwtop.ui.view import View


@dataclass(frozen=True)
class Hits:
    """How many rows it lets through."""

    kept: int
    total: int
    problem: str
    """Why a term of it asks nothing; "" where all are understood."""


def hits(view: View) -> Hits | None:
    """Of ranks, processes and GPUs; None on pages with another filter."""
    job = view.job
    if view.subject == "ranks":
        return Hits(len(rank_view.ordered(view)), len(job.ranks) if job else 0, rank_view.query(view).problem)
    if view.subject == "processes":
        return Hits(len(process_view.kept(view)), len(job.processes) if job else 0, process_view.query(view).problem)
    if view.subject == "gpu":
        return Hits(len(gpu_view.kept(view)), len(view.frame.moment.gpus), gpu_view.query(view).problem)
    return None
