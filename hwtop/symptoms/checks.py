"""What the numbers of now say to each usual suspect, where no rule has found anything. Pure.

They decide between "no" and "unknown" only, but for phases: what was not measured is never a "no".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import fmean, median

from hwtop.job.hang.rank_state import share_of, waits_for_ranks
from hwtop.job.hang.stall import gap_s, is_unmoved, late_ranks, newest_step_s
from hwtop.job.rank_set import named, rank_set
from hwtop.job.size import part
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.model.evidence import MINOR, MOSTLY, NEARLY_ALL
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.capacity import FULL_SHARE, WINDOW_S
from hwtop.symptoms.host.network import RETRANSMITS
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.host.resources import BESIDE_DISKS, LEAST_S, known
from hwtop.symptoms.host.resources import WINDOW_S as RISES_S
from hwtop.symptoms.result import Result
from hwtop.symptoms.runs.earlier import against_earlier, earlier_words
from hwtop.symptoms.statistics import share_at_most
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.answers import slower_since_the_start

GPU_BUSY_PCT = 70.0
"""Mean utilization from which a GPU is not underutilized; below its own level gpu-low-utilization reports it. Engineering
default."""
MIN_SAMPLES = 20
"""Stack samples of each rank for a share of a phase: the answer "no" needs more than a finding. Engineering default."""
STALLED_PCT = 10.0
"""Of the time with a task stalled for I/O: less slows no step. Engineering default."""
LOOKED_S = 30.0
"""Time over which samples in D state are counted. Engineering default."""


def hung(history: History) -> Result:
    """Whether the ranks move."""
    ranks = history.live_ranks
    if not ranks:
        return Result("unknown", "no live rank")
    if late := late_ranks(ranks):
        age_s = newest_step_s(late)
        since = "no step is known" if age_s is None else f"no step for {span(age_s)}"
        return Result("unknown", f"{named(rank.rank for rank in late)}: {since}, not yet proven")
    if is_unmoved(ranks):
        return Result("unknown", f"nothing has moved for {span(gap_s(ranks))}, not yet proven")
    if (age_s := newest_step_s(ranks)) is not None:
        times = [rank.progress.step_time_s for rank in ranks if rank.progress.step_time_s is not None]
        is_due = age_s <= max(WINDOW_S, 3 * max(times, default=0.0))
        return Result("no" if is_due else "unknown", f"last step {span(age_s)} ago")
    moves = [rank.stall.same_stack_for_s for rank in ranks if rank.stall.same_stack_for_s is not None]
    if not moves:
        return Result("unknown", "no steps in a log, no stacks")
    return Result(
        "no" if min(moves) < WINDOW_S else "unknown", f"stacks moved {span(min(moves))} ago; no steps in a log"
    )


def gpu_underutilized(history: History) -> Result:
    """How busy the job's GPUs are."""
    indexes = {index for rank in history.live_ranks for index in rank.gpus}
    if not indexes:
        return Result("unknown", "no rank is known to use a GPU")

    means = {index: history.mean(WINDOW_S, partial(_util_pct, index)) for index in indexes}
    read = {index: mean for index, mean in means.items() if mean is not None}
    if len(read) < len(means):
        return Result("unknown", "utilization is not read, or not for long enough")
    text = f"GPU {rank_set(indexes)}: {fmean(read.values()):.0f} % busy over {WINDOW_S:.0f} s"
    least = min(read, key=lambda index: read[index])
    if read[least] >= GPU_BUSY_PCT:
        return Result("no", text)
    one = f", GPU {least} {read[least]:.0f} %" if len(read) > 1 else ""
    return Result("unknown", f"{text}{one}; no cause is proven")


def _util_pct(index: int, derived: DerivedState) -> float | None:
    return next((gpu.util_pct for gpu in derived.gpus if gpu.index == index), None)


def phases(*phases: Phase, waits: bool = False) -> Callable[[History], Result]:
    """Share of these phases in the samples of the ranks. What no rule of the stacks knows may be one of them. `waits`: so may be a wait
    for other ranks, which DDP over gloo does inside of backward."""

    def share(rank: Rank, is_alone: bool) -> float:
        return max(share_of(rank, *phases), waits_for_ranks(rank, is_alone=is_alone) if waits else 0.0)

    def measure(history: History) -> Result:
        ranks = [rank for rank in history.live_ranks if rank.stack.samples >= MIN_SAMPLES and rank.state != "starting"]
        if not ranks:
            return Result("unknown", f"fewer than {MIN_SAMPLES} stack samples of each rank")
        shares = [share(rank, len(ranks) == 1) for rank in ranks]
        most = max(
            share_at_most(min(1.0, each + share_of(rank, "other")), rank.stack.samples)
            for rank, each in zip(ranks, shares, strict=True)
        )
        text = f"{percent(median(shares))} of the samples ({sum(rank.stack.samples for rank in ranks)} of {named(rank.rank for rank in ranks)})"
        if most < MINOR:
            return Result("no", text)
        if median(shares) >= EXPLAINS:
            is_still = bool(late_ranks(ranks))
            return Result("unknown", f"{text}; no rank moves") if is_still else Result("yes", text)
        odd = max(ranks, key=lambda rank: share_of(rank, "other"))
        if share_of(odd, "other") >= MINOR:
            return Result(
                "unknown",
                f"{text}; {percent(share_of(odd, 'other'))} of rank {odd.rank}'s are in code of unknown purpose",
            )
        return Result("unknown", f"{text}; up to {percent(most)} of one rank (95 % confidence)")

    return measure


def cpu_full(history: History) -> Result:
    """How many of the cores that the ranks may use are busy, and whether a limit is met."""
    cores, free = capacity.cores(history.now), capacity.free(history, WINDOW_S)
    if free is None or not history.covers(WINDOW_S):
        return Result("unknown", "CPU use is not read, or not for long enough")
    util = 100 * (1 - free / cores)
    throttled = history.mean(WINDOW_S, lambda derived: derived.cgroup.throttled_periods_pct if derived.cgroup else None)
    limit = f", CPU limit reached in {throttled:.0f} % of the periods" if throttled is not None else ""
    taken = history.once(capacity.taken)
    others = f", {taken.cores:.1f} by programs outside the job" if taken is not None else ""
    text = f"{util:.0f} % of {cores:g} core{'s' if cores != 1 else ''} busy{others}{limit}"
    return Result("no" if util < 100 * FULL_SHARE and (throttled or 0.0) < 1.0 else "unknown", text)


def disk_slow(history: History) -> Result:
    """Whether anybody waits for a disk."""
    stalled = some_pct("io")(history.now)  # the kernel's own mean over 10 s
    blocked = [
        _is_blocked(rank)
        for derived in history.over(LOOKED_S)
        for rank in (derived.job.ranks if derived.job else ())
        if rank.is_alive
    ]
    looked = f"D state in {sum(blocked)} of {len(blocked)} samples over {min(LOOKED_S, history.watched_s):.0f} s"
    if stalled is None:
        is_proven = not any(blocked) and share_at_most(0.0, len(blocked)) < MINOR
        return Result("no" if is_proven else "unknown", f"{looked}; the kernel reports no I/O pressure")
    text = f"{looked}, tasks stalled for I/O" if blocked else "no rank is left, tasks stalled for I/O"
    text = f"{text} {stalled:.0f} % of the time"
    return Result("no" if stalled < STALLED_PCT and not any(blocked) else "unknown", text)


def network_slow(history: History) -> Result:
    """How full the links are, and what TCP loses."""
    network = history.now.network
    real = [nic for nic in network.nics if not nic.is_virtual and nic.link_mbit_per_s] if network else []
    if network is None or not real:
        return Result("unknown", "no interface reports its speed")
    used = max(
        max(nic.rx_bytes_per_s or 0.0, nic.tx_bytes_per_s or 0.0) * 8e-6 / nic.link_mbit_per_s
        for nic in real
        if nic.link_mbit_per_s
    )
    again = network.tcp_retransmit_pct
    text = f"busiest link at {percent(used)} of its speed" + (
        f", {again:.1f} % TCP retransmits" if again is not None else ""
    )
    return Result("no" if used < MOSTLY and (again or 0.0) < RETRANSMITS.sent_again_pct else "unknown", text)


def memory_short(history: History) -> Result:
    """How much of all that can run out is used, and whether any of it rises to its limit."""
    memory = history.now.memory
    if memory is None:
        return Result("unknown", "memory is not read")
    text = f"{part(memory.available_bytes, memory.total_bytes)} available"
    swap = (memory.swap_in_pages_per_s or 0.0) + (memory.swap_out_pages_per_s or 0.0)
    limits = sorted(known(history, BESIDE_DISKS), key=lambda each: -each[1].share)
    text += f", {swap:.0f} pages/s swapped" if swap else ""
    text += "".join(f"; {name} {percent(outlook.share)}" for name, outlook in limits[:1])
    text += f": the most of {len(limits)} limits, watched for {span(min(history.watched_s, RISES_S))}"
    rising = [name for name, outlook in limits if outlook.runs_out]
    is_fine = not rising and swap == 0.0 and all(each.share < NEARLY_ALL for _, each in limits)
    is_seen = history.watched_s >= LEAST_S
    return Result("no" if is_fine and is_seen else "unknown", text + (f"; {rising[0]} rises" if rising else ""))


def gpu_sick(history: History) -> Result:
    """Whether the GPUs answer, and what holds their clocks."""
    gpus = history.now.gpus
    if not gpus:
        return Result("unknown", "no GPU is read")
    asked = [gpu for gpu in gpus if gpu.status == "ok"]
    held = [
        gpu.index
        for gpu in asked
        if set(gpu.throttle or ()) & {"hw_slowdown", "hw_thermal", "sw_thermal", "hw_power_brake"}
    ]
    hottest = max((gpu.temp_c for gpu in asked if gpu.temp_c is not None), default=None)
    silent = {gpu.index for gpu in gpus} - {gpu.index for gpu in asked}
    if silent or held:
        reported = [f"{named_gpus(silent)} {'does' if len(silent) == 1 else 'do'} not answer"] if silent else []
        reported += [f"{named_gpus(held)} throttled now"] if held else []
        return Result("unknown", ", ".join(reported))
    heat = f", hottest {hottest:.0f} °C" if hottest is not None else ""
    known = all(gpu.throttle is not None for gpu in asked)
    return Result(
        "no" if known else "unknown",
        f"{len(asked)} GPUs answer{heat}, none throttled" if known else "throttle reasons are not reported",
    )


def slower_than_before(history: History) -> Result:
    """Whether it is clearly slower than an earlier run, or there are step times enough to see a change in this one."""
    words, run = earlier_words(history), against_earlier(history)
    seen = slower_since_the_start(history)
    if words is None or run is None:
        return seen
    return Result("yes", words) if run.is_slower else Result(seen.verdict, f"{seen.text}; {words}")


def _is_blocked(rank: Rank) -> bool:
    return rank.process.os_state == "D" or any(worker.state == "D" for worker in rank.workers)
