"""What the Flight Recorder dumps of all ranks say together: who differs, who never came, what does not finish.

Torch's own analyser (`torchfrtrace`) takes the first rank for right and reports all others when that one is the culprit;
here the majority decides, and only the first operation of a group that is not finished is judged: what comes after a
divergence is noise. Groups are ordered by who waits for whom: a rank that is missing in one group because it hangs in
another makes that other one the cause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.job.flight.call import Call, Signature, completed, exchange, operations_of, signature, site, written
from hwtop.job.flight.pair import pair_findings
from hwtop.job.flight.team import Seen, Team, first_open, is_old, newest, teams
from hwtop.job.rank_set import do, named
from hwtop.model.reported.flight import FlightDump, FlightKind, FlightVerdict
from hwtop.model.stack import StackFrame

_MOST_LINES = 12
"""Lines of evidence; one stands for all ranks that did the same."""


class _Case(Struct, frozen=True, kw_only=True):
    """The first operation of a group that some rank has not finished."""

    team: Team
    sequence: int
    calls: tuple[Call, ...]
    """Of the ranks that enqueued it, as far as their dumps still hold it."""
    waiting: tuple[int, ...]
    """Ranks of the group that have not finished all they enqueued."""
    now_at: Mapping[int, StackFrame]


def verdicts(
    dumps: Sequence[FlightDump],
    *,
    expected: Collection[int] = (),
    now_at: Mapping[int, StackFrame] | None = None,
) -> tuple[FlightVerdict, ...]:
    """One verdict a stuck group, the one that explains others first; nothing for dumps of a healthy job.

    `expected` are ranks that should have left a dump; `now_at` tells where ranks stand now, for dumps without stacks.
    """
    by_rank = newest(dumps)
    places = now_at or {}
    found: list[tuple[float, FlightVerdict]] = []
    for team in teams(by_rank, expected):
        case = _first_open(team, places)
        verdict = None if case is None else _judge(case)
        if case is not None and verdict is not None:
            found.append((_since(case.calls), verdict))
        found.extend(pair_findings(team, places))
    ordered = _causes_first(found)
    return tuple(_with_chain(verdict, ordered) for verdict in ordered)


def _first_open(team: Team, now_at: Mapping[int, StackFrame]) -> _Case | None:
    """The earliest operation that a rank has not finished, or the earlier one that began the divergence.

    None while it is young, unless ranks hang in different operations: those will never meet.
    """
    first = first_open(team)
    if first is None:
        return None
    at_first = _calls(team, first)
    by_rank = {seen.rank: seen for seen in team.seen}
    is_young = not any(is_old(by_rank[call.rank], call.created_s) for call in at_first if not call.is_done)
    if is_young and _kinds(call for call in at_first if not call.is_done) < 2:
        return None
    parted = next((number for number in _sequences(team, first) if _kinds(_calls(team, number)) > 1), first)
    waiting = tuple(seen.rank for seen in team.seen if any(not call.is_done for call in seen.calls.values()))
    return _Case(team=team, sequence=parted, calls=_calls(team, parted), waiting=waiting, now_at=now_at)


def _sequences(team: Team, up_to: int) -> list[int]:
    return sorted({number for seen in team.seen for number in seen.calls if number <= up_to})


def _calls(team: Team, sequence: int) -> tuple[Call, ...]:
    return tuple(seen.calls[sequence] for seen in team.seen if sequence in seen.calls)


def _kinds(calls: Iterable[Call]) -> int:
    return len({operations_of(call) for call in calls})


def _judge(case: _Case) -> FlightVerdict | None:
    verdict = _mismatch(case)
    if verdict is not None:
        return verdict
    late = tuple(seen for seen in case.team.seen if seen.has_reached(case.sequence) is False)
    if late:
        since_s = min((call.created_s for call in case.calls if call.created_s is not None), default=None)
        late = tuple(seen for seen in late if is_old(seen, since_s))
        return _missing(case, late) if late else None
    absent = _telling_absence(case.team)
    return _never_left(case, absent) if absent else _all_there(case)


def _mismatch(case: _Case) -> FlightVerdict | None:
    clusters = _clusters(case.calls)
    if len(clusters) > 1:
        first, second = len(clusters[0][1]), len(clusters[1][1])
        is_majority = first > second
        culprits = (
            [call.rank for _, calls in clusters[1:] for call in calls] if is_majority else list(_ranks(case.calls))
        )
        parts = [_did(calls, case, "enqueued" if index == 0 else "") for index, (_, calls) in enumerate(clusters)]
        return _verdict(case, "mismatch", culprits, f"{', '.join(parts)}{case.team.suffix()}")
    totals = [total for call in case.calls if (total := exchange(call)) is not None]
    if len(totals) == len(case.calls) == len(case.team.seen) + len(case.team.absent):
        sent, received = sum(total[0] for total in totals), sum(total[1] for total in totals)
        if sent != received:
            text = (
                f"{_did(case.calls, case, 'enqueued')}{case.team.suffix()}, but together they send {sent} elements and"
                f" expect {received}"
            )
            return _verdict(case, "mismatch", _ranks(case.calls), text)
    return None


def _missing(case: _Case, late: Sequence[Seen]) -> FlightVerdict:
    ranks = [seen.rank for seen in late]
    lasts = {_last_of(seen) for seen in late}
    last = f" (last {lasts.pop()})" if len(lasts) == 1 else ""
    text = f"{_wait(case)}{case.team.suffix()}, {named(ranks)} never enqueued it{last}"
    return _verdict(case, "missing", ranks, text)


def _never_left(case: _Case, absent: Sequence[int]) -> FlightVerdict:
    text = (
        f"{_wait(case)}{case.team.suffix()}, {named(absent)} wrote no dump: dead, stuck before its watchdog could write, or"
        " on another machine"
    )
    return _verdict(case, "missing", absent, text)


def _all_there(case: _Case) -> FlightVerdict:
    """All that are seen enqueued the same operation."""
    waiting = [call for call in case.calls if not call.is_done]
    done = [call for call in case.calls if call.is_done]
    started = [call for call in waiting if call.is_started]
    name = f"{written(waiting[0])}{_site(waiting[0], case)}{case.team.suffix()}"
    stuck, tail = named(_ranks(waiting)), _seen_of(case.team)
    kind: FlightKind = "stalled"
    culprits: tuple[int, ...] = ()
    if done:
        culprits = _ranks(waiting)
        text = f"{named(_ranks(done))} finished {name}, {stuck} enqueued it but did not finish it"
    elif started and len(started) < len(waiting):
        kind, culprits = "queued", tuple(call.rank for call in waiting if not call.is_started)
        text = (
            f"{named(_ranks(started))} {do(_ranks(started), 'be')} in {name}, {named(culprits)} enqueued it but"
            " did not start it: an earlier kernel is still running there"
        )
    elif not started and _tells_starts(case):
        kind = "queued"
        text = f"{stuck} enqueued {name} and none has started it: an earlier kernel is still running on all of them"
    elif started:
        text = (
            f"{stuck} all started {name} and none finished it: caused by the transport (NCCL, NVLink, network) or a GPU"
        )
    else:
        text = f"{stuck} all enqueued {name} and none finished it: caused by the transport, or by an earlier kernel on the GPU"
    return _verdict(case, kind, culprits, text + tail)


def _tells_starts(case: _Case) -> bool:
    """Whether this backend records that operations start: gloo never does, NCCL only with TORCH_NCCL_ENABLE_TIMING."""
    return any(
        (seen.group is not None and seen.group.last_started is not None)
        or any(entry.state == "started" for entry in seen.dump.entries)
        for seen in case.team.seen
    )


def _telling_absence(team: Team) -> tuple[int, ...]:
    """Ranks whose missing dump is evidence: few, while the watchdogs of the others did write theirs."""
    if any(seen.dump.is_asked for seen in team.seen):
        return ()
    few = len(team.absent) == 1 or len(team.absent) < len(team.seen)
    return team.absent if few else ()


def _verdict(case: _Case, kind: FlightKind, culprits: Iterable[int], text: str) -> FlightVerdict:
    culprits = tuple(sorted(culprits))
    others = tuple(rank for rank in case.waiting if rank not in culprits)
    return FlightVerdict(
        kind=kind,
        group=case.team.label,
        sequence=case.sequence,
        operation=case.calls[0].entries[0].operation,
        culprits=culprits,
        waiting=others or case.waiting,
        text=text,
        evidence=_evidence(case),
        ranks_seen=tuple(seen.rank for seen in case.team.seen),
        ranks_without_dump=case.team.absent,
    )


def _evidence(case: _Case) -> tuple[str, ...]:
    by_line: dict[str, list[int]] = {}
    calls = {call.rank: call for call in case.calls}
    for seen in case.team.seen:
        call = calls.get(seen.rank)
        line = f"last {_last_of(seen)}" if call is None else _call_line(call, case)
        by_line.setdefault(f"{line}{_status(seen)}", []).append(seen.rank)
    lines = [f"{named(ranks)}: {line}" for line, ranks in by_line.items()]
    rest = len(lines) - _MOST_LINES
    return (*lines[:_MOST_LINES], *((f"and {rest} more groups of ranks",) if rest > 0 else ()))


def _call_line(call: Call, case: _Case) -> str:
    state = "finished" if call.is_done else "started, not finished" if call.is_started else "enqueued, not finished"
    return f"{written(call)} {state}{_site(call, case)}"


def _last_of(seen: Seen) -> str:
    if not seen.calls:
        number = None if seen.group is None else seen.group.last_enqueued
        return "not reported" if number is None else "none" if number < 0 else f"#{number}"
    call = seen.calls[max(seen.calls)]
    return f"{written(call)}{site(call.entries[0], seen.rank, {})}"


def _status(seen: Seen) -> str:
    if seen.group is None or seen.group.last_enqueued is None:
        return ""
    done = completed(seen.group, seen.calls)
    tail = "" if done is None else f", finished #{done}" if done >= 0 else ", finished none"
    return f"; last enqueued #{seen.group.last_enqueued}{tail}"


def _clusters(calls: Sequence[Call]) -> list[tuple[Signature, list[Call]]]:
    """Calls with equal signature together, most ranks first; of the same operation even where its sizes are at odds."""
    found: dict[Signature, list[Call]] = {}
    for call in calls:
        found.setdefault(signature(call), []).append(call)
    return sorted(found.items(), key=lambda each: (-len(each[1]), each[1][0].rank))


def _did(calls: Sequence[Call], case: _Case, verb: str) -> str:
    return f"{named(_ranks(calls))} {f'{verb} ' if verb else ''}{written(calls[0])}{_site(calls[0], case)}"


def _wait(case: _Case) -> str:
    waiting = [call for call in case.calls if not call.is_done]
    ranks = _ranks(waiting)
    return f"{named(ranks)} {do(ranks, 'wait')} in {written(waiting[0])}{_site(waiting[0], case)}"


def _site(call: Call, case: _Case) -> str:
    return site(call.entries[0], call.rank, case.now_at)


def _ranks(calls: Iterable[Call]) -> tuple[int, ...]:
    return tuple(call.rank for call in calls)


def _seen_of(team: Team) -> str:
    """ " (3 of 8 ranks wrote a dump)" where some did not."""
    if not team.absent:
        return ""
    return f" ({len(team.seen)} of {len(team.seen) + len(team.absent)} ranks wrote a dump)"


def _since(calls: Iterable[Call]) -> float:
    return min((call.created_s for call in calls if call.created_s is not None and not call.is_done), default=0.0)


def _causes_first(found: Sequence[tuple[float, FlightVerdict]]) -> list[FlightVerdict]:
    """Verdicts whose culprits do not hang elsewhere, the oldest first; then those that these explain."""
    everything = [verdict for _, verdict in found]
    return [
        verdict for _, verdict in sorted(found, key=lambda each: (bool(_explained_by(each[1], everything)), each[0]))
    ]


def _explained_by(verdict: FlightVerdict, others: Sequence[FlightVerdict]) -> list[FlightVerdict]:
    """Verdicts in which a rank waits that this one misses."""
    if verdict.kind != "missing":
        return []
    return [other for other in others if other is not verdict and set(verdict.culprits) & set(other.waiting)]


def _with_chain(verdict: FlightVerdict, others: Sequence[FlightVerdict]) -> FlightVerdict:
    lines = tuple(
        f"{named(ranks)} {do(ranks, 'wait')} in {other.operation} #{other.sequence} of group {other.group}"
        for other in _explained_by(verdict, others)
        if (ranks := sorted(set(verdict.culprits) & set(other.waiting)))
    )
    return replace(verdict, evidence=(*verdict.evidence, *lines)) if lines else verdict
