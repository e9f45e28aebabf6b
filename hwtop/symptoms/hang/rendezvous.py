"""rendezvous-stuck: who is here waits for others before the training can start."""

from __future__ import annotations

from hwtop.job.hang.rendezvous import missing_ranks
from hwtop.job.rank_set import do, named
from hwtop.model.hang import Rendezvous
from hwtop.seconds import span
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import Fact

MEETING = limits_of("rendezvous-stuck")


def check_rendezvous(history: History, limits: Limits = MEETING) -> Observation | None:
    """All that is here waits, long enough for what is known of the others."""
    job = history.job
    meeting = None if job is None else job.rendezvous
    if job is None or meeting is None or not _is_long(meeting, limits):
        return None
    missing = missing_ranks(meeting.ranks, meeting.expected) if meeting.ranks else ()
    is_certain = meeting.waiting_s >= limits.critical_s
    return observed(
        "rendezvous-stuck",
        severity="critical" if is_certain else "warning",
        facts=_facts(meeting, missing, job.target_pid),
        confidence=0.9 if is_certain else 0.7 if _is_anybody_missing(meeting) else 0.6,
        evidence=_evidence(meeting, missing),
        ranks=meeting.ranks,
    )


def _is_long(meeting: Rendezvous, limits: Limits) -> bool:
    if not _is_anybody_missing(meeting):
        return meeting.waiting_s >= limits.complete_s
    return meeting.waiting_s >= limits.missing_s and (meeting.age_s is None or meeting.age_s >= limits.young_s)


def _is_anybody_missing(meeting: Rendezvous) -> bool:
    return meeting.expected is not None and meeting.here < meeting.expected


def _evidence(meeting: Rendezvous, missing: tuple[int, ...]) -> tuple[str, ...]:
    lines = [f"every look for {span(meeting.watched_s)} showed the rendezvous, and nothing else"]
    if span(meeting.waiting_s) != span(meeting.watched_s):
        lines.append(
            f"no main thread has run for {span(meeting.waiting_s)} (the kernel, also for the time before hwtop looked)"
        )
    if meeting.ranks:
        size = f"WORLD_SIZE is {meeting.expected}, " if meeting.expected is not None else ""
        there = f"; {named(missing)} {do(missing, 'be')} not on this machine" if missing else ""
        lines.append(f"{size}{meeting.here} of them {'is' if meeting.here == 1 else 'are'} here{there}")
    elif meeting.expected is not None:
        lines.append(
            f"--nnodes asks for at least {meeting.expected}; this machine is one, and no rank has been started"
        )
    if meeting.age_s is not None:
        lines.append(f"the youngest process that waits is {span(meeting.age_s)} old")
    return tuple(lines)


def _facts(meeting: Rendezvous, missing: tuple[int, ...], target_pid: int) -> dict[str, Fact]:
    host, _, port = (meeting.address or "").rpartition(":")
    others = (meeting.expected or 0) - meeting.here
    is_of_nodes = not meeting.ranks and _is_anybody_missing(meeting)
    return {
        "waiting": f"{named(meeting.ranks).capitalize()} {do(meeting.ranks, 'wait')}"
        if meeting.ranks
        else "torchrun waits",
        "missing": named(missing)
        if missing
        else f"{others} of {meeting.expected} nodes"
        if is_of_nodes
        else "the others",
        "waiting_s": meeting.waiting_s,
        "address": meeting.address,
        "host": host or None,
        "port": port or None,
        "target_pid": target_pid,
    }
