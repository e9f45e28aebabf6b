"""When the job began: its nearest launcher, not the script or scheduler that may have started other jobs before. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.model.member import Member
from hwtop.model.process import ProcessReading


def job_began_s(reading: ProcessReading, members: Sequence[Member]) -> float | None:
    """Start of what started the oldest rank, seconds after the epoch; None where neither rank nor launcher is there."""
    ticks = {process.pid: process.start_ticks for process in reading.processes}
    here = {member.pid: member for member in members if member.pid in ticks}
    ranks = [member for member in here.values() if member.role == "rank"]
    launchers = [member for member in here.values() if member.role == "launcher"]
    if not ranks and not launchers:
        return None
    first = min(ranks, key=lambda rank: ticks[rank.pid]) if ranks else max(launchers, key=lambda each: each.depth)
    member: Member | None = first
    while member is not None and member.role != "launcher":
        member = here.get(member.ppid)
    if reading.boot_time_s is None:
        return None
    return reading.boot_time_s + ticks[(member or first).pid] / reading.ticks_per_s
