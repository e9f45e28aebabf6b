"""Processes that do nothing but wait for the end of those that they started, while somebody trains: these are the ranks."""

from __future__ import annotations

from hwtop.model.evidence import REPEATED
from hwtop.model.reported.log import Progress


class Joiners:
    """What each process was seen to do, look after look."""

    def __init__(self) -> None:
        self._since: dict[int, int | None] = {}
        """PID -> the step that its log reported when it was first seen to wait; None: in its newest look it did something else."""

    def works(self, pid: int) -> None:
        """It does not wait in this look."""
        self._since[pid] = None

    def are_ranks_below(self, pid: int, progress: Progress | None, children: int) -> bool:
        """It waits in this look: whether a training is reported, and not by it. It has waited for several children in its first look, or
        steps have come since. `progress`: the newest in its log."""
        if progress is None or progress.step is None or progress.loss is None:
            return False
        is_first = pid not in self._since
        since = self._since.get(pid)
        if since is None:
            self._since[pid] = since = progress.step
        return (is_first and children > 1) or progress.step - since >= REPEATED
