"""Membership: who belongs to the job and as what, worked out again only when something has changed that tells it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hwtop.job.launch.facts import of_place
from hwtop.job.launch.tree import members
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo


class Membership:
    """Remembers the newest members, and what they were made of.

    Between two readings hardly any process comes or goes, and placing 25 of them takes a fifth of all that is derived.
    """

    def __init__(self) -> None:
        self.members: tuple[Member, ...] = ()
        self._made_of: tuple[object, ...] | None = None

    def advance(
        self, processes: Sequence[ProcessInfo], spawners: Collection[int], named: int | None = None
    ) -> tuple[Member, ...]:
        """Those of the newest reading. `named`: the PID that the user asked about."""
        made_of = (self.members, frozenset(spawners), tuple(map(of_place, processes)))
        if made_of != self._made_of:
            self.members, self._made_of = members(processes, self.members, spawners, named), made_of
        return self.members
