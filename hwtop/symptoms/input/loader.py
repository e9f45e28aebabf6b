"""input-bound-cpu, input-bound-workers, input-bound-io: the training waits for its data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from statistics import fmean

from hwtop.job.hang.rank_state import MIN_SAMPLES
from hwtop.job.kernel.wait import WaitKind
from hwtop.job.launch.launcher import python_program
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.code_line import collects_garbage
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.model.evidence import MOSTLY
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import HotSpot
from hwtop.symptoms.gpu.words import has_gpu
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.capacity import WINDOW_S
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.input.answers import awaits_answers, starved_share
from hwtop.symptoms.input.feeder import WORKER_BUSY_PCT, busy_feeder, feeder_of
from hwtop.symptoms.input.loading import (
    DATA,
    Cause,
    at,
    cause_of,
    has_begun,
    hot_spot,
    is_loading,
    thread_spot,
    waits_at_queue,
    worker_pct,
)
from hwtop.symptoms.input.waits import main_wait, state_share, wait_share
from hwtop.symptoms.rule import Limits, Observation, observed
from hwtop.symptoms.statistics import proven_confidence, share_at_least
from hwtop.symptoms.text import Fact, counted, percent
from hwtop.symptoms.training.trend import slowed_by

_SHOWN_CHARS = 80
_IN_WORDS: dict[WaitKind, str] = {
    "storage": "storage",
    "network": "a socket",
    "pipe": "a pipe",
    "terminal": "a terminal",
    "lock": "a lock or another thread",
    "file lock": "a file lock",
    "sleep": "a sleep to end",
    "child": "a child process",
    "events": "one of several descriptors (poll)",
}


def check_cause(cause: Cause, history: History, limits: Limits = DATA) -> Observation | None:
    """The ranks that wait for data for this reason."""
    starved = [
        rank for rank in history.live_ranks if _is_starved(history, rank, limits) and _cause(history, rank) == cause
    ]
    if not starved:
        return None
    share = fmean(starved_share(history, rank) for rank in starved)
    samples = min(rank.stack.samples for rank in starved)
    maker = busy_feeder(history, starved[0]) if cause == "cpu" else None
    is_threaded = cause == "cpu" and not starved[0].workers and maker is None
    spot = (thread_spot(history, starved[0]) if is_threaded else None) or hot_spot(starved)
    if spot is not None and _grows(history, spot):
        return None
    what = f"`{spot.function}` ({at(spot)})" if spot else "loading"
    if maker is not None:
        what = f"`{_program(maker.command)}` (PID {maker.pid})"
    answerer = _answerer(history, starved[0])
    is_known = answerer is None and is_loading(history, starved[0])
    ranks = tuple(rank.rank for rank in starved)
    return observed(
        f"input-bound-{cause}",
        severity="warning"
        if answerer is not None or (is_known and (share >= MOSTLY or _waits(history, starved)))
        else "info",
        facts={
            **_facts(history, starved, share, what),
            **_purpose(starved[0], is_known),
            "maker": what if maker is not None else None,
            "answerer": answerer,
            "ranks_inside": named(ranks),
            "is_data": answerer is None,
        },
        confidence=proven_confidence(share, samples, base=0.55),
        evidence=(
            f"{named(ranks)}: {_where(is_known, answerer)} in {_shares(history, starved)} of {samples} stack samples",
            *_evidence(cause, history, starved, spot, is_known),
        ),
        ranks=ranks,
    )


def _cause(history: History, rank: Rank) -> Cause:
    return "io" if awaits_answers(history, rank) else cause_of(history, rank)


def _where(is_known: bool, answerer: str | None) -> str:
    if answerer is not None:
        return "waiting for an answer"
    return "in data loading" if is_known else "at a queue or pipe"


def _answerer(history: History, rank: Rank) -> str | None:
    """Who has what it waits for, where that may be anything; None where it is data."""
    if not awaits_answers(history, rank):
        return None
    if (other := feeder_of(history, rank)) is not None:
        return f"PID {other[0].pid} ({_program(other[0].command)})"
    call = rank.process.call
    return call.peer if call is not None and call.peer else "another process"


def _shares(history: History, ranks: Sequence[Rank]) -> str:
    """ "63 %", or "63 % (25 % to 95 %)" where the ranks differ."""
    each = sorted(starved_share(history, rank) for rank in ranks)
    mean, least, most = percent(fmean(each)), percent(each[0]), percent(each[-1])
    return mean if least == most else f"{mean} ({least} to {most})"


def _waits(history: History, starved: Sequence[Rank]) -> bool:
    """A device, or the process itself, is idle meanwhile; one that loads by itself on a core of its own wastes nothing but time for which
    another core would be needed."""
    main_pct = (
        history.rank_mean(WINDOW_S, rank.rank, lambda seen: seen.process.main_thread_cpu_pct) or 0.0
        for rank in starved
        if not rank.workers
    )
    return (
        has_gpu(history, starved)
        or any(rank.workers for rank in starved)
        or any(pct < WORKER_BUSY_PCT for pct in main_pct)
    )


def _grows(history: History, spot: HotSpot) -> bool:
    """Steps become slower and slower by this place: step-time-rising tells that, and more workers would not mend it."""
    grown = slowed_by(history)
    return grown is not None and (grown.function, grown.file) == (spot.function, spot.file)


def _is_starved(history: History, rank: Rank, limits: Limits) -> bool:
    collecting = sum(
        line.share
        for line in rank.stack.hot_lines
        if line.phase in ("data", "data-main") and collects_garbage(line.code)
    )
    share = starved_share(history, rank) - collecting  # gc-thrash tells of that
    return (
        rank.stack.samples >= MIN_SAMPLES
        and share_at_least(share, rank.stack.samples) > limits.data_share
        and rank.state != "starting"
        and has_begun(rank)
    )


def _evidence(cause: Cause, history: History, ranks: Sequence[Rank], spot: HotSpot | None, is_known: bool) -> list[str]:
    lines = []
    rank = ranks[0]
    busy = worker_pct(history, rank)
    if rank.workers:
        states = "".join(sorted(worker.state for worker in rank.workers))
        count = len(rank.workers)
        each = "each " if count > 1 else ""
        load = f", {each}{busy:.0f} % of a core on average" if busy is not None else ""
        crew = counted(count, "loader worker") if is_known else counted(count, "child process", "child processes")
        lines.append(f"rank {rank.rank} has {crew} (state {states}){load}")
    elif cause == "workers" and not waits_at_queue(rank):
        lines.append(f"rank {rank.rank} has no loader workers: it loads in the training process itself")
    elif cause == "cpu" and busy_feeder(history, rank) is None:
        lines.append(f"rank {rank.rank} has no loader workers: threads of its own load, and keep a core busy")
    elif waits_at_queue(rank):
        doing = "wait for bytes" if cause == "io" else "are neither busy nor in a read"
        lines.append(
            f"rank {rank.rank} has no loader workers: it waits at a queue, and the threads that fill it {doing}"
        )
    if spot is not None:
        lines.append(f"hottest line {spot.function} ({at(spot)}): {percent(spot.share)} of {spot.samples} samples")
    cores, free = capacity.cores(history.now), capacity.free(history, WINDOW_S)
    if free is not None:
        lines.append(
            f"{cores - free:.1f} of {cores:g} core{'s' if cores != 1 else ''} busy over {WINDOW_S:g} s, {free:.1f} free"
        )
    waits = main_wait(history, rank)
    if waits is not None and waits[1] >= EXPLAINS and not awaits_answers(history, rank):
        lines.append(
            f"loading processes waited in the kernel for: {_IN_WORDS[waits[0]]}, in {percent(waits[1])} of the samples"
        )
    if (other := feeder_of(history, rank)) is not None:
        row, busy = other
        load = f", {busy:.0f} % of a core on average" if busy is not None else ""
        lines.append(f"the other end is held by PID {row.pid} ({row.command[:_SHOWN_CHARS]}){load}")
    if cause == "io" and is_blocked(history, rank):
        blocked = state_share(history, rank, "D")
        lines.append(f"loading processes in D state in {percent(blocked)} of the samples")
        if (stalled := some_pct("io")(history.now)) is not None:
            lines.append(f"I/O pressure: tasks stalled {stalled:.0f} % of the last 10 s")
    return lines


def is_blocked(history: History, rank: Rank) -> bool:
    """The kernel shows loading processes that wait for a disk or a file server."""
    return wait_share(history, rank, "storage") > EXPLAINS


def _facts(history: History, ranks: Sequence[Rank], share: float, what: str) -> dict[str, Fact]:
    rank, numbers = ranks[0], [rank.rank for rank in ranks]
    free, count, waits = capacity.free(history, WINDOW_S), len(rank.workers), main_wait(history, rank)
    kind = waits[0] if waits is not None and waits[1] >= EXPLAINS else None
    has_queue = not rank.workers and waits_at_queue(rank)
    each = 0 if free is None else int(free / max(1, len(ranks)))
    return {
        "ranks": named(numbers).capitalize(),
        "wait": do(numbers, "wait"),
        "share": share,
        "what": what,
        "pid": rank.workers[0].pid if rank.workers else rank.pid,
        "has_workers": bool(rank.workers),
        "has_queue": has_queue,
        "is_alone": not rank.workers and not has_queue,
        "is_asleep": kind == "sleep",
        "is_storage": kind == "storage",
        "feeder": other[0].pid if (other := feeder_of(history, rank)) is not None else None,
        "source": _IN_WORDS[kind] if kind in ("network", "pipe", "file lock") and not has_queue else None,
        "num_workers": count + each if each >= 1 else None,
        "more_workers": 2 * count or 4,
        "free_cores": free,
        "no_core": free is not None and each < 1,
        "cores": capacity.cores(history.now),
    }


def _program(command: str) -> str:
    """What a person calls it: of Python the script or module."""
    argv = command.split()
    name = os.path.basename(argv[0]) if argv else "?"
    program = python_program(argv).name if name.startswith("python") else ""
    return os.path.basename(program) or name


def _purpose(rank: Rank, is_known: bool) -> dict[str, Fact]:
    """Loading, or work of unknown purpose in processes or threads that the rank started."""
    if is_known:
        return {"is_known": True}
    return {
        "helpers": "child processes" if rank.workers else "threads of its own",
        "num_workers": None,
        "no_core": False,
    }


check_cpu = partial(check_cause, "cpu")
check_workers = partial(check_cause, "workers")
check_io = partial(check_cause, "io")
