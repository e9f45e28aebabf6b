"""input-bound-cpu, input-bound-workers, input-bound-io, gpu-idle-cpu-busy: the training waits for its data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from hwtop.job.rank_set import do, named
from hwtop.job.rank_state import share_of
from hwtop.model.frame import Moment
from hwtop.model.job import HotSpot, Rank, Worker
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.statistics import share_at_least

DATA_SHARE = 0.20
"""Share of the samples in data loading; what the samples prove (Wilson), not their ratio. Engineering default."""
WORKER_BUSY_PCT = 70.0
"""A loader worker that uses this much of a core is bound by the CPU. Engineering default."""
WORKER_RUNNABLE_SHARE = 0.5
"""... or that is on the run queue in half of the looks: on a full machine it wants the CPU and does not get it."""
WORKER_BLOCKED_SHARE = 0.3
"""Workers in D for over 30 % of the looks. Engineering default."""
GPU_IDLE_PCT = 30.0
"""Mean utilization over the window. Engineering default."""
CPU_BUSY_PCT = 80.0
"""Of a core, main thread or a worker: such a process does little but compute. Engineering default."""
CPU_WANTED_SHARE = 0.8
"""... or on the run queue in so many of the looks: the same need on a full machine, where nobody gets 80 % of a core."""
WINDOW_S = 10.0
_MIN_SAMPLES = 8

Cause = Literal["cpu", "workers", "io"]

_READ_WORDS = frozenset(
    [
        "read",
        "readinto",
        "readline",
        "readlines",
        "recv",
        "pread",
        "mmap",
        "download",
        "urlopen",
        "urlretrieve",
        "fetch",
        "request",
        "sendfile",
    ]
)
"""Words in the name of a function that fetches bytes from a disk, a pipe or the network."""
_READ_WCHANS = [
    "pipe_read",
    "anon_pipe_read",
    "io_schedule",
    "folio_wait",
    "wait_on_page",
    "nfs",
    "rpc_wait",
    "sk_wait_data",
    "wait_woken",
    "unix_stream_read",
    "fuse",
    "request_wait_answer",
    "cifs",
    "ceph",
    "ptlrpc",
    "cl_sync_io",
    "blkdev",
]
"""Kernel functions in which a reader sleeps (start of the name): pipe, page cache, NFS, socket, FUSE, SMB, Ceph, Lustre."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def check_cause(cause: Cause, history: History) -> Observation | None:
    """The ranks that wait for data for this reason."""
    starved = [rank for rank in history.live_ranks if _is_starved(rank) and _cause(history, rank) == cause]
    if not starved:
        return None
    share = fmean(share_of(rank, "data", "data-main") for rank in starved)
    samples = min(rank.samples for rank in starved)
    spot = _hot_spot(starved)
    what = f"`{spot.function}` ({_at(spot)})" if spot else "loading"
    ranks = tuple(rank.rank for rank in starved)
    return Observation(
        severity="warning",
        confidence=min(0.97, 0.55 + share_at_least(share, samples) / 2),
        title=_title(cause, share, what, starved),
        evidence=(
            f"{named(ranks)}: in data loading in {share:.0%} of {samples} stack samples each",
            *_evidence(cause, history, starved, spot),
        ),
        next_steps=_next_steps(cause, history, starved, what),
        ranks=ranks,
    )


def check_gpu_idle(history: History) -> Observation | None:
    """GPU idle, CPU busy: the headline."""
    ranks = [rank for rank in history.live_ranks if rank.gpus and rank.state in ("training", "data-wait", "unknown")]
    seen = [(rank, _gpu_util(history, rank), _busiest_pct(history, rank)) for rank in ranks]
    hit = [
        (rank, util, busy)
        for rank, util, busy in seen
        if util is not None
        and util < GPU_IDLE_PCT
        and busy is not None
        and (busy > CPU_BUSY_PCT or _state_share(history, rank, "R") >= CPU_WANTED_SHARE)
    ]
    if not hit:
        return None
    spot = _hot_spot([rank for rank, _, _ in hit])
    util = fmean(util for _, util, _ in hit)
    busy_pct = fmean(busy for _, _, busy in hit)
    gpus = sorted({gpu for rank, _, _ in hit for gpu in rank.gpus})
    data = fmean(share_of(rank, "data", "data-main") for rank, _, _ in hit)
    what = f": `{spot.function}` takes {spot.share:.0%} of the time" if spot else ""
    if spot and data > DATA_SHARE:
        what = f": {data:.0%} of each step waits for `{spot.function}` in the loader"
    pid = hit[0][0].pid
    return Observation(
        severity="warning",
        confidence=0.9 if spot else 0.7,
        title=f"GPU idle, CPU busy{what}",
        evidence=(
            f"GPU {', '.join(map(str, gpus))}: {util:.0f} % busy over {WINDOW_S:.0f} s",
            f"{named(rank.rank for rank, _, _ in hit)}: busiest process at {busy_pct:.0f} % of a core"
            + ("" if busy_pct > CPU_BUSY_PCT else ", always on the run queue: the machine is full"),
            *(
                (f"hottest line {spot.function} ({_at(spot)}): {spot.share:.0%} of {spot.samples} samples",)
                if spot
                else ()
            ),
        ),
        next_steps=(
            f"hwtop stacks {pid}   # where the CPU time goes",
            "If it is the data pipeline: more loader workers, or move the work to the GPU",
            "If it is Python in forward or backward: larger batches, torch.compile, CUDA graphs",
        ),
        ranks=tuple(rank.rank for rank, _, _ in hit),
    )


def _at(spot: HotSpot) -> str:
    return f"{spot.file.rsplit('/', 1)[-1]}:{spot.line}"


def _is_starved(rank: Rank) -> bool:
    share = share_of(rank, "data", "data-main")
    return (
        rank.samples >= _MIN_SAMPLES and share_at_least(share, rank.samples) > DATA_SHARE and rank.state != "starting"
    )


def _cause(history: History, rank: Rank) -> Cause:
    """What the loading itself waits for: its CPU, its storage, or nothing but (more, or less sleepy) workers."""
    if _state_share(history, rank, "D") > WORKER_BLOCKED_SHARE:
        return "io"
    if share_of(rank, "data-main") > share_of(rank, "data") or not rank.workers:
        return "io" if rank.hot and _is_read(rank.hot[0].function) else "workers"
    busy = _worker_pct(history, rank)
    if (busy is not None and busy >= WORKER_BUSY_PCT) or _state_share(history, rank, "R") >= WORKER_RUNNABLE_SHARE:
        return "cpu"
    return "io" if any(_reads(worker) for worker in rank.workers) else "workers"


def _worker_pct(history: History, rank: Rank) -> float | None:
    """Mean CPU of the rank's workers over the window."""
    known = [value for _, value in history.rank_series(WINDOW_S, rank.rank, _mean_worker_pct)]
    return fmean(known) if known else None


def _mean_worker_pct(rank: Rank) -> float | None:
    known = [worker.cpu_pct for worker in rank.workers if worker.cpu_pct is not None]
    return fmean(known) if known else None


def _state_share(history: History, rank: Rank, state: str) -> float:
    """Share of looks at the loading processes in which they were in this OS state."""
    looks = [
        found == state
        for moment in history.over(WINDOW_S)
        if moment.job is not None
        for seen in moment.job.ranks
        if seen.rank == rank.rank
        for found in ([worker.state for worker in seen.workers] or [seen.os_state])
    ]
    return sum(looks) / len(looks) if looks else 0.0


def _reads(worker: Worker) -> bool:
    if (worker.wchan or "").startswith(tuple(_READ_WCHANS)):
        return True
    return worker.leaf is not None and _is_read(worker.leaf.name)


def _is_read(function: str) -> bool:
    return not _READ_WORDS.isdisjoint(word.lower() for word in _WORD.findall(function.rsplit(".", 1)[-1]))


def _hot_spot(ranks: Sequence[Rank]) -> HotSpot | None:
    spots = [spots[0] for rank in ranks if (spots := rank.worker_hot or rank.hot)]
    return max(spots, key=lambda spot: spot.samples, default=None)


def _busiest_pct(history: History, rank: Rank) -> float | None:
    def busiest(seen: Rank) -> float | None:
        known = [seen.main_thread_cpu_pct, *(worker.cpu_pct for worker in seen.workers)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(WINDOW_S, rank.rank, busiest)


def _gpu_util(history: History, rank: Rank) -> float | None:
    """Mean utilization of the rank's GPUs over the window."""

    def util(moment: Moment) -> float | None:
        known = [gpu.util_pct for gpu in moment.gpus if gpu.index in rank.gpus and gpu.util_pct is not None]
        return fmean(known) if known else None

    return history.mean(WINDOW_S, util)


def _title(cause: Cause, share: float, what: str, ranks: Sequence[Rank]) -> str:
    numbers = [rank.rank for rank in ranks]
    why = {
        "cpu": f"the loader's {what} is bound by the CPU",
        "io": f"loading is blocked on storage in {what}",
        "workers": f"the loader workers themselves sleep in {what}"
        if ranks[0].workers
        else f"no loader workers for {what}",
    }[cause]
    return f"{named(numbers).capitalize()} {do(numbers, 'wait')} {share:.0%} of the time for data: {why}"


def _evidence(cause: Cause, history: History, ranks: Sequence[Rank], spot: HotSpot | None) -> list[str]:
    lines = []
    rank = ranks[0]
    busy = _worker_pct(history, rank)
    if rank.workers:
        states = "".join(sorted(worker.state for worker in rank.workers))
        load = f", each {busy:.0f} % of a core on average" if busy is not None else ""
        count = f"{len(rank.workers)} loader worker{'' if len(rank.workers) == 1 else 's'}"
        lines.append(f"rank {rank.rank} has {count} (state {states}){load}")
    elif cause == "workers":
        lines.append(f"rank {rank.rank} has no loader workers: it loads in the training process itself")
    if spot is not None:
        lines.append(f"hottest line {spot.function} ({_at(spot)}): {spot.share:.0%} of {spot.samples} samples")
    cpu = history.now.cpu
    if cpu is not None and cpu.util_pct is not None:
        lines.append(
            f"CPU {cpu.util_pct:.0f} % busy, about {_free_cores(history):.1f} of {history.now.cores:g} cores free"
        )
    if cause == "io":
        blocked = _state_share(history, rank, "D")
        lines.append(f"loading processes in D state in {blocked:.0%} of the looks")
        if cpu is not None and (io := cpu.psi.get("io")) is not None and io.some is not None:
            lines.append(f"I/O pressure: tasks stalled {io.some.avg10_pct:.0f} % of the last 10 s")
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
    if cause == "workers":
        return (more, f"Look at what {what} does in the training process", check)
    return (
        f"Make {what} cheaper: decode once and cache, use a faster codec, or do it on the GPU",
        more,
        check,
    )


RULES = (
    Rule(
        symptom="input-bound-cpu",
        category="performance",
        threshold=f"data wait surely over {DATA_SHARE:.0%} of the samples, workers busy on the CPU",
        raise_s=3.0,
        clear_s=15.0,
        check=lambda history: check_cause("cpu", history),
    ),
    Rule(
        symptom="input-bound-workers",
        category="performance",
        threshold=f"data wait surely over {DATA_SHARE:.0%}: no loader workers, or workers that sleep",
        raise_s=3.0,
        clear_s=15.0,
        check=lambda history: check_cause("workers", history),
    ),
    Rule(
        symptom="input-bound-io",
        category="performance",
        threshold=f"data wait surely over {DATA_SHARE:.0%}: loading blocked in D or in a read",
        raise_s=3.0,
        clear_s=15.0,
        check=lambda history: check_cause("io", history),
    ),
    Rule(
        symptom="gpu-idle-cpu-busy",
        category="performance",
        threshold=f"GPU under {GPU_IDLE_PCT:.0f} % over {WINDOW_S:.0f} s, a thread or worker over {CPU_BUSY_PCT:.0f} % of a core",
        raise_s=2.0,
        clear_s=15.0,
        check=check_gpu_idle,
    ),
)
