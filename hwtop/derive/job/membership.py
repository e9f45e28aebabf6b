"""Membership: who belongs to the job and as what, worked out again only when something has changed that tells it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hwtop.job.launch.tree import members
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo

_BITS = 6
"""Of a size that are kept; bounds only how often members are placed again."""


class Membership:
    """Remembers the newest members, and what they were made of.

    Between two readings hardly any process comes or goes, and placing 25 of them takes a fifth of all that is derived.
    """

    def __init__(self) -> None:
        self.members: tuple[Member, ...] = ()
        self._made_of: tuple[object, ...] | None = None

    def advance(self, processes: Sequence[ProcessInfo], spawners: Collection[int]) -> tuple[Member, ...]:
        """Those of the newest reading."""
        made_of = (self.members, frozenset(spawners), tuple(map(_facts, processes)))
        if made_of != self._made_of:
            self.members, self._made_of = members(processes, self.members, spawners), made_of
        return self.members


def _facts(process: ProcessInfo) -> tuple[object, ...]:
    """All that `hwtop.job.launch.tree` reads of a process."""
    return (
        process.pid,
        process.ppid,
        process.comm,
        process.start_ticks,
        process.cmdline,
        process.env,
        process.exe,
        process.cwd,
        process.missing,
        _rounded(process.rss_bytes or 0),
        {thread.comm for thread in process.threads},
    )


def _rounded(size_bytes: int) -> tuple[int, int]:
    """To 3 %: its memory changes at each reading, and decides only where one process has several times another's."""
    shift = max(0, size_bytes.bit_length() - _BITS)
    return size_bytes >> shift, shift
