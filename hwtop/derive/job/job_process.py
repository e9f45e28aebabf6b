"""The process table of the job: one row a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from hwtop.derive.job.process import ProcessRates
from hwtop.model.member import JobProcess, Member
from hwtop.model.process import ProcessInfo, ProcessReading

_KEPT_COUNTS = 512
"""Combinations of names or states of threads that are remembered; bounds only what is kept."""


def process_rows(
    reading: ProcessReading, members: Sequence[Member], rates: Mapping[int, ProcessRates]
) -> tuple[JobProcess, ...]:
    """In the order of `members`, all of which are in `reading`."""
    by_pid = {process.pid: process for process in reading.processes}
    return tuple(_row(member, by_pid[member.pid], rates.get(member.pid, ProcessRates())) for member in members)


def command_line(process: ProcessInfo) -> str:
    """As ps shows it: the arguments, else the name in brackets."""
    return " ".join(process.cmdline) if process.cmdline else f"[{process.comm}]"


def _row(member: Member, process: ProcessInfo, rate: ProcessRates) -> JobProcess:
    return JobProcess(
        pid=member.pid,
        ppid=member.ppid,
        depth=member.depth,
        role=member.role,
        rank=member.rank,
        user=process.user,
        state=process.state,
        cpu_pct=rate.cpu_pct,
        rss_bytes=process.rss_bytes,
        thread_count=process.thread_count,
        read_bytes_per_s=rate.read_bytes_per_s,
        written_bytes_per_s=rate.written_bytes_per_s,
        fd_count=process.fd_count,
        fd_limit=process.fd_limit,
        process_limit=process.process_limit,
        wchan=process.wchan,
        threads=_count(tuple(thread.comm for thread in process.threads)),
        thread_states=_count(tuple(thread.state for thread in process.threads)),
        command=command_line(process),
        caught_signals=process.caught_signals,
        ignored_signals=process.ignored_signals,
        start_ticks=process.start_ticks,
        exit_code=process.exit_code,
    )


@lru_cache(maxsize=_KEPT_COUNTS)
def _count(names: tuple[str, ...]) -> dict[str, int]:
    """One dictionary for all that have the same: the history holds those of ten minutes. Nobody changes it."""
    return {name: names.count(name) for name in dict.fromkeys(names)}
