"""Point-to-point operations: a send that nobody receives, a receive that nobody sends, sizes that differ.

Sends and receives between two ranks match in order, one by one (NCCL point-to-point semantics); their sequence numbers are
counted by each rank for itself and say nothing to the other. Gloo records none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hwtop.job.flight.call import elements, site, tensors
from hwtop.job.flight.team import Seen, Team, is_old
from hwtop.job.rank_set import named
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.flight import FlightEntry, FlightKind, FlightVerdict
from hwtop.model.stack import StackFrame

_NAME = lazy_regex(r"(?:(send) (\d{1,6})->(\d{1,6})|(recv) (\d{1,6})<-(\d{1,6}))")
_COALESCED = "coalesced"


class _Pair(NamedTuple):
    """Direction of an operation, in numbers of the whole job."""

    source: int
    target: int


class _Side(NamedTuple):
    """The unfinished operations of one side of a pair, oldest first."""

    seen: Seen
    open_ones: list[FlightEntry]
    is_posted: bool
    """There is one that may be unfinished: the dump does not tell."""


def pair_findings(team: Team, now_at: Mapping[int, StackFrame]) -> list[tuple[float, FlightVerdict]]:
    """(since, verdict) of each pair of ranks whose point-to-point operations do not come to an end."""
    by_rank = {seen.rank: seen for seen in team.seen}
    sends: dict[_Pair, _Side] = {}
    receives: dict[_Pair, _Side] = {}
    for seen in team.seen:
        for (name, pair), entries in _by_pair(seen, team).items():
            open_ones, is_posted = _unfinished(seen, entries)
            (sends if name == "send" else receives)[pair] = _Side(seen, open_ones, is_posted)
    found = []
    for pair in dict.fromkeys((*sends, *receives)):
        verdict = _judge(team, pair, sends.get(pair), receives.get(pair), by_rank, now_at)
        if verdict is not None:
            found.append(verdict)
    return found


def _by_pair(seen: Seen, team: Team) -> dict[tuple[str, _Pair], list[FlightEntry]]:
    found: dict[tuple[str, _Pair], list[FlightEntry]] = {}
    for entry in seen.dump.entries:
        match = _NAME.fullmatch(entry.operation) if entry.is_p2p and entry.group == team.name else None
        if match is None:
            continue
        if match[1]:
            key = ("send", _Pair(_global(match[2], team), _global(match[3], team)))
        else:
            key = ("recv", _Pair(_global(match[6], team), _global(match[5], team)))
        found.setdefault(key, []).append(entry)
    return found


def _global(place: str, team: Team) -> int:
    """Operations are named by the places of the ranks in their group."""
    number = int(place)
    return team.ranks[number] if team.ranks is not None and number < len(team.ranks) else number


def _unfinished(seen: Seen, entries: Sequence[FlightEntry]) -> tuple[list[FlightEntry], bool]:
    """Members of a coalesced batch have no state of their own: the entry that closes the batch has it. A dump of active
    operations only lacks the closing entries of finished batches, so there a member says nothing.
    """
    closings = {
        entry.sequence: entry
        for entry in seen.dump.entries
        if entry.is_p2p and entry.operation == _COALESCED and entry.group == entries[0].group
    }
    open_ones: list[FlightEntry] = []
    is_posted = False
    for entry in entries:
        closing = closings.get(entry.sequence)
        state = entry.state if closing is None else closing.state
        if state == "completed":
            open_ones, is_posted = [], False  # they finish in order
        elif closing is None and state == "scheduled" and seen.dump.is_asked:
            is_posted = True
        else:
            open_ones.append(entry)
            is_posted = True
    return open_ones, is_posted


def _judge(
    team: Team,
    pair: _Pair,
    send: _Side | None,
    receive: _Side | None,
    by_rank: Mapping[int, Seen],
    now_at: Mapping[int, StackFrame],
) -> tuple[float, FlightVerdict] | None:
    sends, receives = send.open_ones if send else [], receive.open_ones if receive else []
    if send and receive and sends and receives:
        return _both(team, pair, (send.seen, sends[0]), (receive.seen, receives[0]), now_at)
    mine, other = (send, receive) if sends else (receive, send)
    if mine is None or not mine.open_ones or (other is not None and other.is_posted):
        return None
    peer = pair.target if mine is send else pair.source
    entry = mine.open_ones[0]
    if peer not in by_rank or not is_old(mine.seen, entry.created_s) or not is_old(by_rank[peer], entry.created_s):
        return None
    text = (
        f"rank {mine.seen.rank} waits in {_written(entry, mine.seen.rank, now_at)}{team.suffix()}, rank {peer} never posted"
        f" the {'receive' if mine is send else 'send'}"
    )
    return _verdict(team, "missing", [(mine.seen, entry)], [peer], text, now_at)


def _both(
    team: Team,
    pair: _Pair,
    send: tuple[Seen, FlightEntry],
    receive: tuple[Seen, FlightEntry],
    now_at: Mapping[int, StackFrame],
) -> tuple[float, FlightVerdict] | None:
    sides = [send, receive]
    if not any(is_old(seen, entry.created_s) for seen, entry in sides):
        return None
    reported = f"{_side(*send, now_at)}, {_side(*receive, now_at)}{team.suffix()}"
    sent, wanted = send[1], receive[1]
    sent_sizes, wanted_sizes = elements(sent.input_sizes or sent.output_sizes), _received(wanted)
    if sent_sizes != wanted_sizes or set(sent.input_dtypes) != set(wanted.output_dtypes or wanted.input_dtypes):
        return _verdict(team, "mismatch", sides, list(pair), f"{reported}: sizes or types differ", now_at)
    return _verdict(team, "stalled", sides, [], f"{reported}: both are posted and neither finishes", now_at)


def _received(entry: FlightEntry) -> tuple[int, ...]:
    return elements(entry.output_sizes or entry.input_sizes)


def _verdict(
    team: Team,
    kind: FlightKind,
    sides: Iterable[tuple[Seen, FlightEntry]],
    culprits: Sequence[int],
    text: str,
    now_at: Mapping[int, StackFrame],
) -> tuple[float, FlightVerdict]:
    sides = list(sides)
    first = sides[0][1]
    verdict = FlightVerdict(
        kind=kind,
        group=team.label,
        sequence=first.sequence,
        operation=first.operation,
        culprits=tuple(sorted(set(culprits))),
        waiting=tuple(sorted({seen.rank for seen, _ in sides})),
        text=text,
        evidence=tuple(
            f"{named([seen.rank])}: {_written(entry, seen.rank, now_at)} not finished" for seen, entry in sides
        ),
        ranks_seen=tuple(seen.rank for seen in team.seen),
        ranks_without_dump=team.absent,
    )
    return min((entry.created_s or 0.0 for _, entry in sides), default=0.0), verdict


def _side(seen: Seen, entry: FlightEntry, now_at: Mapping[int, StackFrame]) -> str:
    return f"rank {seen.rank} is in {_written(entry, seen.rank, now_at)}"


def _written(entry: FlightEntry, rank: int, now_at: Mapping[int, StackFrame]) -> str:
    return f"{entry.operation}{tensors(entry)}{site(entry, rank, now_at)}"
