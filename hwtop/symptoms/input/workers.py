"""dataloader-worker-stuck, dataloader-worker-killed: a loader worker that gives no more batches.

Other child processes that a rank waits for are told by `hang`."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hwtop.job.exit_code import exit_words
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import has_nothing_to_do
from hwtop.job.stacks.frames import place
from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank, Worker
from hwtop.model.reported.log import LogEvent
from hwtop.seconds import span
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import is_loading
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN, Fact, quoted

_REMEMBERED_S = 120.0
"""An OOM kill in the job's cgroup explains a worker that is lost within so long. Engineering default."""
_ENDED = ("Z", "X")


STUCK = limits_of("dataloader-worker-stuck")


KILLED = limits_of("dataloader-worker-killed")


class _Lost(Struct, frozen=True):
    """A worker that ended while its rank goes on."""

    pid: int
    exit_code: int | None


def check_stuck(history: History, limits: Limits = STUCK) -> Observation | None:
    """A rank waits for a batch of workers that do nothing at all."""
    hit = [(rank, stuck) for rank in history.live_ranks if (stuck := _stuck_workers(history, rank, limits))]
    if not hit:
        return None
    ranks = [rank.rank for rank, _ in hit]
    rank, stuck = hit[0]
    first = stuck[0]
    return observed(
        "dataloader-worker-stuck",
        confidence=0.95 if first.state == "D" or len(stuck) < len(rank.workers) else 0.9,
        facts=_stuck_facts(hit),
        evidence=(
            *(_waits(rank) for rank, _ in hit[:SHOWN]),
            *(_stack_state(rank, worker) for rank, stuck in hit for worker in stuck[:SHOWN]),
            *_locks(rank),
        ),
        ranks=tuple(ranks),
    )


def _stuck_workers(history: History, rank: Rank, limits: Limits) -> list[Worker]:
    need_s = max(limits.still_s, limits.intervals * (rank.log.interval_s or 0.0))
    reported_s = rank.progress.step_age_s if rank.progress.step_age_s is not None else need_s
    if rank.stack.phase != "data" or (rank.stall.same_stack_for_s or 0.0) < need_s or reported_s < need_s:
        return []
    if not is_loading(history, rank):
        return []
    return [worker for worker in rank.workers if _is_stuck(history, rank, worker, need_s, limits)]


def _is_stuck(history: History, rank: Rank, worker: Worker, need_s: float, limits: Limits) -> bool:
    if worker.state in _ENDED or not _did_nothing(history, rank, worker, need_s, limits):
        return False
    if worker.state == "D":
        return True
    leaf = worker.leaf
    if leaf is None or (worker.same_stack_for_s or 0.0) < min(need_s, limits.still_s) / 2:
        return False
    return not has_nothing_to_do(worker)


def _did_nothing(history: History, rank: Rank, worker: Worker, need_s: float, limits: Limits) -> bool:
    """No CPU time and no bytes read from anywhere, for so long. The stack alone is looked at too seldom to tell."""
    seen = [each for each in _of_pid(history, rank, need_s) if each.pid == worker.pid]
    cpu = [each.cpu_pct for each in seen if each.cpu_pct is not None]
    reads = any(each.read_bytes_per_s or each.read_chars_per_s for each in seen)
    is_idle = len(cpu) >= 3 and sum(cpu) / len(cpu) < limits.cpu_pct
    return history.covers(need_s) and is_idle and not reads


def _of_pid(history: History, rank: Rank, seconds: float) -> Iterator[Worker]:
    for derived in history.over(seconds):
        for seen in derived.job.ranks if derived.job is not None else ():
            if seen.rank == rank.rank and seen.pid == rank.pid:
                yield from seen.workers


def _where(worker: Worker) -> str:
    kernel = f" in D state ({worker.wchan or 'kernel function unknown'})" if worker.state == "D" else ""
    file = worker.file
    disk = f" on {file.mount_point or file.path} ({file.fs_type or 'file system unknown'})" if kernel and file else ""
    return kernel + disk + (f" in {place(worker.leaf)}" if worker.leaf is not None else "")


def _waits(rank: Rank) -> str:
    return (
        f"rank {rank.rank} (PID {rank.pid}) has waited for its loader workers for {span(rank.stall.same_stack_for_s or 0.0)}"
        f" without moving"
    )


def _stack_state(rank: Rank, worker: Worker) -> str:
    number = [each.pid for each in rank.workers].index(worker.pid) + 1
    wchan = f" in the kernel's {worker.wchan}" if worker.wchan else ""
    awaited = f", waits for {worker.waits_for}" if worker.waits_for else ""
    leaf = f", is in {place(worker.leaf)}" if worker.leaf is not None else ""
    file = f", has {worker.file.path} open" if worker.file is not None else ""
    return (
        f"rank {rank.rank}, worker {number} of {len(rank.workers)} (PID {worker.pid}): state {worker.state}{wchan}{awaited}, no CPU time, "
        f"nothing read{leaf}{file}"
    )


def _locks(rank: Rank) -> Iterator[str]:
    for lock in rank.stall.worker_locks[:SHOWN]:
        name = f" {lock.wait.lock}" if lock.wait.lock else ""
        yield f"worker PID {lock.pid} waits for the lock{name}, which no thread of it holds: it was locked when the worker was forked"


def _stuck_facts(hit: Sequence[tuple[Rank, list[Worker]]]) -> dict[str, Fact]:
    rank, stuck = hit[0]
    first, ranks = stuck[0], [rank.rank for rank, _ in hit]
    is_blocked = first.state == "D"
    is_locked = not is_blocked and bool(rank.stall.worker_locks or (first.wchan or "").startswith("futex"))
    return {
        "worker": first.pid,
        "more": len(stuck) - 1 or None,
        "rank": rank.rank,
        "where": _where(first),
        "waiting": f"{named(ranks)} {do(ranks, 'wait')} for {'their' if len(hit) > 1 else 'its'} batch",
        "is_blocked": is_blocked,
        "is_locked": is_locked,
        "is_other": not is_blocked and not is_locked,
        "is_running": not is_blocked,
        "mount": first.file.mount_point if first.file is not None and first.file.mount_point else None,
    }


def check_killed(history: History, limits: Limits = KILLED) -> Observation | None:
    """A worker has ended while its rank lives and needs it, or the log says so."""
    job = history.job
    if job is None:
        return None
    events = _telling(job.logs.events)
    lost = [
        (rank, gone)
        for rank in history.live_ranks
        if (ended := _lost(history, rank, limits)) and is_loading(history, rank)
        for gone in ended
    ]
    if not events and not lost:
        return None
    ranks = {rank.rank for rank, _ in lost} | {event.rank for event in events if event.rank is not None}
    oom = sum(
        derived.cgroup.oom_kills_new or 0 for derived in history.over(_REMEMBERED_S) if derived.cgroup is not None
    )
    return observed(
        "dataloader-worker-killed",
        confidence=0.95,
        facts={
            "who": _who(events, lost),
            "ranks": named(ranks) if ranks else None,
            "how": _how(events, lost),
            "is_oom": bool(oom),
        },
        evidence=(
            *(f"rank {rank.rank}: worker PID {gone.pid} {_ended(gone.exit_code)}" for rank, gone in lost[:SHOWN]),
            *(f"{quoted(event.path)}: {quoted(event.text)}" for event in events[:SHOWN]),
            *(
                (f"{oom} OOM kill{'s' if oom > 1 else ''} in the job's cgroup in the last {_REMEMBERED_S:.0f} s",)
                * bool(oom)
            ),
        ),
        ranks=tuple(sorted(ranks)),
        log_line=events[0].text if events else None,
    )


def _telling(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Lines about a killed worker that are not what another failure brought about: a launcher ends all with SIGTERM."""
    roots = [event.at_s for event in events if event.role == "root" and "ataLoader worker" not in event.text]
    return [
        event
        for event in events
        if event.pattern == "dataloader-worker-killed"
        and not (event.groups.get("signal") or "").startswith("Terminated")
        and not any(at_s <= event.at_s for at_s in roots)
    ]


def _lost(history: History, rank: Rank, limits: Limits) -> list[_Lost]:
    ended = [worker for worker in rank.workers if worker.state in _ENDED]
    failed = [_Lost(worker.pid, worker.exit_code) for worker in ended if _is_failure(worker.exit_code)]
    still_s = min(rank.stall.same_stack_for_s or 0.0, rank.stall.idle_for_s or 0.0)
    if failed or rank.stack.phase != "data" or still_s < limits.wait_s:
        return failed
    if children := [_Lost(row.pid, row.exit_code) for row in failed_children(history, rank)]:
        return children
    silent = [_Lost(worker.pid, None) for worker in ended if worker.exit_code is None]
    return silent + [_Lost(pid, None) for pid in _vanished(history, rank, still_s + limits.wait_s)]


def failed_children(history: History, rank: Rank) -> list[JobProcess]:
    """Zombies. Of one that ended before hwtop came, what it was is no longer told, only how it ended and whose it is."""
    rows = history.job.processes if history.job is not None else ()
    return [row for row in rows if row.ppid == rank.pid and row.state in _ENDED and _is_failure(row.exit_code)]


def _is_failure(code: int | None) -> bool:
    """torch and multiprocessing end workers that linger with SIGTERM."""
    return code not in (None, 0, -signal.SIGTERM)


def _vanished(history: History, rank: Rank, seconds: float) -> list[int]:
    """Workers that were there within `seconds`, unless younger ones took their place."""
    now = {worker.pid for worker in rank.workers}
    before: dict[int, None] = {}
    for worker in _of_pid(history, rank, seconds):
        before.setdefault(worker.pid)
    first = next(iter(history.over(seconds)), None)
    old = {
        worker.pid
        for seen in (first.job.ranks if first is not None and first.job is not None else ())
        if seen.pid == rank.pid
        for worker in seen.workers
    }
    return [] if now - old else [pid for pid in before if pid not in now]


def _who(events: Sequence[LogEvent], lost: Sequence[tuple[Rank, _Lost]]) -> str:
    pids = [str(gone.pid) for _, gone in lost] or [
        pid.strip() for event in events[:1] for pid in event.groups.get("pids", "").split(",") if pid.strip()
    ]
    if not pids:
        return "A loader worker"
    return f"Loader worker{'s' if len(pids) > 1 else ''} PID {', '.join(pids[:SHOWN])}"


def _how(events: Sequence[LogEvent], lost: Sequence[tuple[Rank, _Lost]]) -> str:
    reported = next((event.groups["signal"] for event in events if event.groups.get("signal")), None)
    if reported is not None:
        return f"was killed by signal: {reported}"
    code = next((gone.exit_code for _, gone in lost if gone.exit_code is not None), None)
    return _ended(code) if code is not None else "ended while its rank still waits for it"


def _ended(code: int | None) -> str:
    if code is None:
        return "has ended, exit code unknown"
    return f"was {exit_words(code)}" if code < 0 else f"has ended with {exit_words(code)}"
