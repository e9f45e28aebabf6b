"""rendezvous-stuck: who is here waits for others before the training can start."""

from __future__ import annotations

from hwtop.job.hang.rendezvous import missing_ranks
from hwtop.job.rank_set import do, named
from hwtop.model.hang import Rendezvous
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Hold, Limits, Observation, Rule


class MeetingLimits(Limits, frozen=True, kw_only=True):
    """Of rendezvous-stuck. Engineering defaults; torch itself gives up after 5 to 30 minutes."""

    missing_s: Hold = 15.0
    """Everybody here has been seen in the rendezvous for so long, and others are expected: a rendezvous takes seconds once all
    have come, and those of one job start together."""
    young_s: Hold = 30.0
    """A younger process is given the time to be joined by others that were started with it."""
    complete_s: Hold = 60.0
    """All ranks are here and still they wait: the time for slow addresses and timeouts."""
    critical_s: Hold = 120.0


MEETING = MeetingLimits()


def check_rendezvous(history: History, limits: MeetingLimits = MEETING) -> Observation | None:
    """All that is here waits, long enough for what is known of the others."""
    job = history.job
    meeting = None if job is None else job.rendezvous
    if job is None or meeting is None or not _is_long(meeting, limits):
        return None
    missing = missing_ranks(meeting.ranks, meeting.expected) if meeting.ranks else ()
    is_certain = meeting.waiting_s >= limits.critical_s
    return Observation(
        severity="critical" if is_certain else "warning",
        confidence=0.9 if is_certain else 0.7 if _is_anybody_missing(meeting) else 0.6,
        title=_title(meeting, missing),
        evidence=_evidence(meeting, missing),
        next_steps=_steps(meeting, job.target_pid),
        ranks=meeting.ranks,
    )


def _is_long(meeting: Rendezvous, limits: MeetingLimits) -> bool:
    if not _is_anybody_missing(meeting):
        return meeting.waiting_s >= limits.complete_s
    return meeting.waiting_s >= limits.missing_s and (meeting.age_s is None or meeting.age_s >= limits.young_s)


def _is_anybody_missing(meeting: Rendezvous) -> bool:
    return meeting.expected is not None and meeting.here < meeting.expected


def _title(meeting: Rendezvous, missing: tuple[int, ...]) -> str:
    at = f" at {meeting.address}" if meeting.address else ""
    who = f"{named(meeting.ranks).capitalize()} {do(meeting.ranks, 'wait')}" if meeting.ranks else "torchrun waits"
    if missing:
        whom = named(missing)
    elif not meeting.ranks and _is_anybody_missing(meeting):
        others = (meeting.expected or 0) - meeting.here
        whom = f"{others} of {meeting.expected} nodes"
    else:
        whom = "the others"
    return f"{who} for {whom} in the rendezvous{at} for {meeting.waiting_s:.0f} s"


def _evidence(meeting: Rendezvous, missing: tuple[int, ...]) -> tuple[str, ...]:
    lines = [f"every look for {meeting.waiting_s:.0f} s showed the rendezvous, and nothing else"]
    if meeting.ranks:
        size = f"WORLD_SIZE is {meeting.expected}, " if meeting.expected is not None else ""
        there = f"; {named(missing)} {do(missing, 'be')} not on this machine" if missing else ""
        lines.append(f"{size}{meeting.here} of them {'is' if meeting.here == 1 else 'are'} here{there}")
    elif meeting.expected is not None:
        lines.append(
            f"--nnodes asks for at least {meeting.expected}; this machine is one, and no rank has been started"
        )
    if meeting.age_s is not None:
        lines.append(f"the youngest process that waits is {meeting.age_s:.0f} s old")
    return tuple(lines)


def _steps(meeting: Rendezvous, target_pid: int) -> tuple[str, ...]:
    host, _, port = (meeting.address or "").rpartition(":")
    reach = f"nc -vz {host} {port}" if host and port else "nc -vz $MASTER_ADDR $MASTER_PORT"
    return (
        f"{reach}   # from every other node: name, firewall, port",
        "Were the others started? Compare the processes of all nodes with the world size (squeue, kubectl get pods)",
        "Same MASTER_ADDR, MASTER_PORT, --rdzv-id and --nnodes everywhere; a different --node-rank on each",
        f"hwtop stacks {target_pid}   # which step of the rendezvous",
    )


RULES = (
    Rule(
        symptom="rendezvous-stuck",
        category="stability",
        threshold=lambda limits: (
            f"all that is here in the rendezvous for {limits.missing_s:g} s and at least {limits.young_s:g} s old while others are expected; "
            f"{limits.complete_s:g} s where all are here; critical after {limits.critical_s:g} s"
        ),
        raise_s=0.0,
        clear_s=2.0,
        check=check_rendezvous,
        limits=MEETING,
    ),
)
