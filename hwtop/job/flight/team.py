"""A process group over the dumps of all its ranks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from hwtop.job.flight.call import Call, calls_of
from hwtop.model.reported.flight import FlightDump, FlightGroup

WAITED_S = 5.0
"""An operation that was younger than this when its rank's dump was taken is no hang, and a rank whose dump was taken less
than this after the others came is not late. Engineering default: dumps of one job are written within a second or two of one
another, and the watchdog's own timeout is minutes."""


class Seen(Struct, frozen=True, kw_only=True):
    """One rank's part in a group."""

    rank: int
    dump: FlightDump
    group: FlightGroup | None
    """None where its dump does not mention the group."""
    calls: Mapping[int, Call]

    def has_reached(self, sequence: int) -> bool | None:
        """Whether it enqueued operation `sequence`; None where the dump does not tell."""
        if sequence in self.calls:
            return True
        if self.group is not None and self.group.last_enqueued is not None:
            return self.group.last_enqueued >= sequence
        return max(self.calls) > sequence if self.calls else None


class Team(Struct, frozen=True, kw_only=True):
    """One process group."""

    name: str
    label: str
    """ "default_pg", "tp", or the number that torch gave it."""
    seen: tuple[Seen, ...]
    """Its ranks that left a dump, by number."""
    absent: tuple[int, ...]
    """Its ranks that left none, as far as its members are known."""
    ranks: tuple[int, ...] | None
    """Its members where a dump tells: point-to-point operations count by their place in it."""

    @property
    def is_default(self) -> bool:
        """The group of all ranks."""
        return self.label == "default_pg"

    def suffix(self) -> str:
        """ " in group tp", or nothing for the default group."""
        return "" if self.is_default else f" in group {self.label}"


def newest(dumps: Sequence[FlightDump]) -> dict[int, FlightDump]:
    """The newest readable dump of each rank."""
    found: dict[int, FlightDump] = {}
    for dump in sorted(dumps, key=lambda each: each.at_s):
        if dump.rank is not None and dump.error is None:
            found[dump.rank] = dump
    return found


def teams(dumps: Mapping[int, FlightDump], expected: Collection[int]) -> tuple[Team, ...]:
    """All process groups; `expected` are ranks that should have left a dump.

    Groups of one name and different ranks are different groups: torch's `split_group` makes such.
    """
    known: dict[tuple[str, tuple[int, ...] | None], dict[int, FlightGroup]] = {}
    for rank, dump in dumps.items():
        for group in dump.groups:
            known.setdefault((group.name, group.ranks), {})[rank] = group
    return tuple(_team(name, ranks, groups, dumps, expected) for (name, ranks), groups in known.items())


def _team(
    name: str,
    ranks: tuple[int, ...] | None,
    groups: Mapping[int, FlightGroup],
    dumps: Mapping[int, FlightDump],
    expected: Collection[int],
) -> Team:
    description = next((group.description for group in groups.values() if group.description), "")
    label = description if description not in ("", "undefined") else ("default_pg" if name == "0" else name)
    members = set(groups)
    if ranks is not None:
        members.update(ranks)
    elif label == "default_pg":
        members.update(dumps, expected)
    seen = tuple(
        Seen(
            rank=rank,
            dump=dumps[rank],
            group=groups.get(rank),
            calls=calls_of(dumps[rank], groups[rank]) if rank in groups else {},
        )
        for rank in sorted(members & set(dumps))
    )
    return Team(name=name, label=label, seen=seen, absent=tuple(sorted(members - set(dumps))), ranks=ranks)


def is_old(seen: Seen, created_s: float | None) -> bool:
    """Whether the operation had waited for `WAITED_S` when the dump was taken; yes where a time is not told."""
    return created_s is None or seen.dump.taken_s is None or seen.dump.taken_s - created_s >= WAITED_S


def first_open(team: Team) -> int | None:
    """Number of the earliest operation of the group that some rank has not finished."""
    return min((call.sequence for seen in team.seen for call in seen.calls.values() if not call.is_done), default=None)
