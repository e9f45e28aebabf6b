"""Processes that do nothing but wait for the end of those that they started, while somebody trains: these are the ranks."""

from __future__ import annotations

from hwtop.job.launch.spawner import is_joining
from hwtop.model.evidence import REPEATED
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackDump


class Joiners:
    """Over the stacks of all processes, in order."""

    def __init__(self) -> None:
        self._since: dict[int, int] = {}
        """PID -> the step that its log reported when its main thread was first seen to wait."""
        self._seen: set[int] = set()

    def are_ranks_below(self, dump: StackDump, progress: Progress | None, children: int) -> bool:
        """A training is reported, and not by it: it has waited in each look, and for several children in the first one, or steps have
        come since. `progress`: the newest in its log."""
        is_first = dump.pid not in self._seen
        self._seen.add(dump.pid)
        if not is_joining(dump):
            self._since.pop(dump.pid, None)
            return False
        if progress is None or progress.step is None or progress.loss is None:
            self._seen.discard(dump.pid)
            return False
        since = self._since.setdefault(dump.pid, progress.step)
        return (is_first and children > 1) or progress.step - since >= REPEATED
