"""Evidence: the newest of what a watch has read and a job takes with it when it ends."""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from hwtop.model.host.kernel import KernelLine
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackDump

_MOST_DUMPS = 1024
_MOST_KERNEL_LINES = 500


class Seen(Struct, frozen=True, kw_only=True):
    """All of it at one time."""

    snapshot: Snapshot | None
    """The newest one."""
    dumps: tuple[StackDump, ...]
    """The newest of each process that had stacks to show, also of those that have ended."""
    kernel_lines: tuple[KernelLine, ...]


class Evidence:
    """Takes the Snapshots of one watch. Used by one thread; does not block."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._dumps: dict[int, StackDump] = {}
        self._kernel_lines: deque[KernelLine] = deque(maxlen=_MOST_KERNEL_LINES)

    def put(self, snapshot: Snapshot) -> None:
        """The next one."""
        self._snapshot = snapshot
        for dump in snapshot.stacks.dumps if snapshot.stacks is not None else ():
            if dump.threads:
                self._dumps.pop(dump.pid, None)  # the newest last
                self._dumps[dump.pid] = dump
        while len(self._dumps) > _MOST_DUMPS:
            del self._dumps[next(iter(self._dumps))]
        self._kernel_lines.extend(snapshot.kernel.lines if snapshot.kernel is not None else ())

    def seen(self) -> Seen:
        """What there is now."""
        return Seen(snapshot=self._snapshot, dumps=tuple(self._dumps.values()), kernel_lines=tuple(self._kernel_lines))
