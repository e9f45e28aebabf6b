"""input-bound-cpu, input-bound-workers, input-bound-io: the training waits for its data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.code_line import collects_garbage
from hwtop.model.rank import HotSpot, Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import (
    DATA_SHARE,
    MIN_SAMPLES,
    WINDOW_S,
    Cause,
    at,
    cause_of,
    has_begun,
    hot_spot,
    state_share,
    thread_spot,
    waits_at_queue,
    worker_pct,
)
from hwtop.symptoms.pressure import some_pct
from hwtop.symptoms.rule import Limits, Observation, Rule, Share
from hwtop.symptoms.statistics import proven_confidence, share_at_least


class DataLimits(Limits, frozen=True, kw_only=True):
    """Of the three input-bound symptoms."""

    data_share: Share = DATA_SHARE
    """Of the samples of a rank, proven."""


DATA = DataLimits()


def check_cause(cause: Cause, history: History, limits: DataLimits = DATA) -> Observation | None:
    """The ranks that wait for data for this reason."""
    starved = [rank for rank in history.live_ranks if _is_starved(rank, limits) and cause_of(history, rank) == cause]
    if not starved:
        return None
    share = fmean(share_of(rank, "data", "data-main") for rank in starved)
    samples = min(rank.samples for rank in starved)
    is_threaded = cause == "cpu" and not starved[0].workers
    spot = (thread_spot(history, starved[0]) if is_threaded else None) or hot_spot(starved)
    what = f"`{spot.function}` ({at(spot)})" if spot else "loading"
    ranks = tuple(rank.rank for rank in starved)
    return Observation(
        severity="warning",
        confidence=proven_confidence(share, samples, base=0.55, most=0.97),
        title=_title(cause, share, what, starved),
        evidence=(
            f"{named(ranks)}: in data loading in {share:.0%} of {samples} stack samples each",
            *_evidence(cause, history, starved, spot),
        ),
        next_steps=_next_steps(cause, history, starved, what),
        ranks=ranks,
    )


def _is_starved(rank: Rank, limits: DataLimits) -> bool:
    collecting = sum(
        line.share for line in rank.hot_lines if line.phase in ("data", "data-main") and collects_garbage(line.code)
    )
    share = share_of(rank, "data", "data-main") - collecting  # gc-thrash tells of that
    return (
        rank.samples >= MIN_SAMPLES
        and share_at_least(share, rank.samples) > limits.data_share
        and rank.state != "starting"
        and has_begun(rank)
    )


def _title(cause: Cause, share: float, what: str, ranks: Sequence[Rank]) -> str:
    numbers = [rank.rank for rank in ranks]
    why = {
        "cpu": f"the loader's {what} is bound by the CPU",
        "io": f"loading is blocked on storage in {what}",
        "workers": _why_workers(ranks[0], what),
    }[cause]
    return f"{named(numbers).capitalize()} {do(numbers, 'wait')} {share:.0%} of the time for data: {why}"


def _why_workers(rank: Rank, what: str) -> str:
    if rank.workers:
        return f"the loader workers themselves sleep in {what}"
    return f"the queue at {what} is filled too slowly" if waits_at_queue(rank) else f"no loader workers for {what}"


def _evidence(cause: Cause, history: History, ranks: Sequence[Rank], spot: HotSpot | None) -> list[str]:
    lines = []
    rank = ranks[0]
    busy = worker_pct(history, rank)
    if rank.workers:
        states = "".join(sorted(worker.state for worker in rank.workers))
        load = f", each {busy:.0f} % of a core on average" if busy is not None else ""
        count = f"{len(rank.workers)} loader worker{'' if len(rank.workers) == 1 else 's'}"
        lines.append(f"rank {rank.rank} has {count} (state {states}){load}")
    elif cause == "workers" and not waits_at_queue(rank):
        lines.append(f"rank {rank.rank} has no loader workers: it loads in the training process itself")
    elif cause == "cpu":
        lines.append(f"rank {rank.rank} has no loader workers: threads of its own load, and keep a core busy")
    elif waits_at_queue(rank):
        doing = "wait for bytes" if cause == "io" else "are neither busy nor in a read"
        lines.append(
            f"rank {rank.rank} has no loader workers: it waits at a queue, and the threads that fill it {doing}"
        )
    if spot is not None:
        lines.append(f"hottest line {spot.function} ({at(spot)}): {spot.share:.0%} of {spot.samples} samples")
    cpu = history.now.cpu
    if cpu is not None and cpu.util_pct is not None:
        lines.append(
            f"CPU {cpu.util_pct:.0f} % busy, about {_free_cores(history):.1f} of {history.now.cores:g} cores free"
        )
    if cause == "io":
        blocked = state_share(history, rank, "D")
        lines.append(f"loading processes in D state in {blocked:.0%} of the looks")
        if (stalled := some_pct("io")(history.now)) is not None:
            lines.append(f"I/O pressure: tasks stalled {stalled:.0f} % of the last 10 s")
    return lines


def _free_cores(history: History) -> float:
    cpu = history.now.cpu
    util = history.mean(WINDOW_S, lambda moment: moment.cpu.util_pct if moment.cpu else None)
    if cpu is None:
        return 0.0
    return max(0.0, history.now.cores * (1 - (util if util is not None else cpu.util_pct or 0.0) / 100))


def _next_steps(cause: Cause, history: History, ranks: Sequence[Rank], what: str) -> tuple[str, ...]:
    rank = ranks[0]
    free = _free_cores(history)
    check = (
        "To prove it, train on one cached batch (or random tensors): the step time must fall by about the data share"
    )
    if cause == "io":
        return (
            f"ls -l /proc/{(rank.workers[0].pid if rank.workers else rank.pid)}/fd   # which file system the data is on",
            "iostat -x 1   # is the device at its limit, and with which latency",
            "Copy the data to a local disk, pack it into large shards, or read ahead (prefetch_factor)",
            check,
        )
    count = len(rank.workers)
    room = f"about {free:.0f} cores are free" if free >= 1 else "no core is free: make the work cheaper or move it"
    more = (
        f"DataLoader(num_workers={count + max(1, int(free / max(1, len(ranks))))}, persistent_workers=True)   # {room}"
    )
    if cause == "workers" and count:
        return (
            f"hwtop stacks {rank.workers[0].pid}   # which lock, queue or sleep {what} is in",
            "A lock that all workers share, or a remote store with a long latency: more workers or read ahead hide it",
            check,
        )
    if cause == "workers" and waits_at_queue(rank):
        return (f"hwtop stacks {rank.pid}   # what those that fill the queue at {what} wait for", check)
    if cause == "workers":
        return (more, f"Look at what {what} does in the training process", check)
    return (
        f"Make {what} cheaper: decode once and cache, use a faster codec, or do it on the GPU",
        more,
        check,
    )


_NEEDS: dict[Cause, str] = {
    "cpu": ", workers (or threads that load) busy on the CPU",
    "workers": ": no loader workers, or workers that sleep",
    "io": ": loading blocked in D or in a read",
}


def _rule(cause: Cause) -> Rule:
    return Rule(
        symptom=f"input-bound-{cause}",
        category="performance",
        threshold=lambda limits: f"data wait surely over {100 * limits.data_share:.3g}% of the samples{_NEEDS[cause]}",
        raise_s=3.0,
        clear_s=15.0,
        check=partial(check_cause, cause),
        limits=DATA,
    )


RULES = tuple(map(_rule, _NEEDS))
