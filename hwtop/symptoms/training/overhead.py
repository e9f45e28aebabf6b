"""logging-overhead, device-sync-heavy, launch-bound: the training process spends its time beside the computation."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hwtop.job.hang.rank_state import MIN_SAMPLES, share_of
from hwtop.job.rank_set import do, named, rank_set
from hwtop.model.evidence import NEARLY_ALL
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import HotLine, Phase
from hwtop.symptoms.gpu.load import gpu_util
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import has_begun
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import proven_confidence, share_at_least
from hwtop.symptoms.text import SHOWN, percent

_COMPUTE: tuple[Phase, ...] = ("forward", "backward", "optimizer", "other")


LOGGING = limits_of("logging-overhead")


SYNC = limits_of("device-sync-heavy")


LAUNCH = limits_of("launch-bound")


def hottest(rank: Rank, phase: Phase) -> HotLine | None:
    """The line of this phase with most samples."""
    return next((line for line in rank.stack.hot_lines if line.phase == phase), None)


def reported(line: HotLine) -> str:
    """ "`loss.item()` (train.py:88)", or its function where the text is not known."""
    return f"`{line.code or line.function}` ({line.file.rsplit('/', 1)[-1]}:{line.line})"


def check_logging(history: History, limits: Limits = LOGGING) -> Observation | None:
    """Ranks that spend much of their time writing logs and metrics."""
    hit = [rank for rank in history.live_ranks if _proves(rank, limits.logging_share, "logging") and has_begun(rank)]
    if not hit:
        return None
    numbers = [rank.rank for rank in hit]
    rank = max(hit, key=lambda each: share_of(each, "logging"))
    share = share_of(rank, "logging")
    line = hottest(rank, "logging")
    return observed(
        "logging-overhead",
        confidence=proven_confidence(share, rank.stack.samples, base=0.65),
        facts={
            "ranks": named(numbers).capitalize(),
            "spend": do(numbers, "spend"),
            "share": share,
            "place": reported(line) if line else None,
            "pid": rank.pid,
        },
        evidence=(*_shares(hit, "logging"), *_lines(rank, "logging")),
        ranks=tuple(numbers),
    )


def check_sync(history: History, limits: Limits = SYNC) -> Observation | None:
    """Ranks that wait for their GPU time and again, so that it has nothing queued when it is done."""
    hit = [
        (rank, util)
        for rank in history.live_ranks
        if rank.gpus
        and _proves(rank, limits.sync_share, "sync")
        and (util := gpu_util(history, rank, limits.window_s)) is not None
        and util < limits.gpu_pct
    ]
    if not hit:
        return None
    numbers = [rank.rank for rank, _ in hit]
    rank, util = max(hit, key=lambda entry: share_of(entry[0], "sync"))
    share = share_of(rank, "sync")
    line = hottest(rank, "sync")
    return observed(
        "device-sync-heavy",
        confidence=proven_confidence(share, rank.stack.samples, base=0.6),
        facts={
            "ranks": named(numbers).capitalize(),
            "stop": do(numbers, "stop"),
            "share": share,
            "place": reported(line) if line else None,
            "util_pct": util,
        },
        evidence=(
            *_shares([rank for rank, _ in hit], "sync"),
            f"GPU {rank_set(rank.gpus)}: {util:.0f} % busy over {limits.window_s:g} s: it runs dry after each wait",
            *_lines(rank, "sync"),
        ),
        ranks=tuple(numbers),
    )


def check_launch(history: History, limits: Limits = LAUNCH) -> Observation | None:
    """The GPU has breaks because one thread cannot launch its kernels fast enough."""
    hit = [
        (rank, util) for rank in history.live_ranks if (util := _launch_bound_util(history, rank, limits)) is not None
    ]
    if not hit:
        return None
    numbers = [rank.rank for rank, _ in hit]
    rank, util = hit[0]
    power = _power_share(history, rank, limits.window_s)
    hot = rank.stack.hot[0] if rank.stack.hot else None
    return observed(
        "launch-bound",
        confidence=0.75 if power is not None else 0.6,
        facts={
            "ranks": named(numbers).capitalize(),
            "be": do(numbers, "be"),
            "cpu_pct": _busy_pct(history, rank, limits.window_s) or 0.0,
            "gpus": rank_set(rank.gpus),
            "util_pct": util,
        },
        evidence=(
            *(
                f"rank {each.rank}: {percent(_compute(each))} of {each.stack.samples} samples in forward, backward and optimizer"
                for each, _ in hit[:SHOWN]
            ),
            *(
                (f"GPU {rank_set(rank.gpus)} takes {percent(power)} of its power limit: small kernels",)
                if power is not None
                else ()
            ),
            *(
                (f"hottest line {hot.function} ({hot.file.rsplit('/', 1)[-1]}:{hot.line}): {percent(hot.share)}",)
                if hot
                else ()
            ),
            f"data loading {percent(share_of(rank, 'data', 'data-main'))}, waits for the device {percent(share_of(rank, 'sync'))}",
        ),
        ranks=tuple(numbers),
    )


def _launch_bound_util(history: History, rank: Rank, limits: Limits) -> float | None:
    """Utilization of its GPUs if this rank is bound by launching."""
    if not rank.gpus or rank.stack.samples < MIN_SAMPLES or rank.state not in ("training", "slow"):
        return None
    util, busy = gpu_util(history, rank, limits.window_s), _busy_pct(history, rank, limits.window_s)
    if util is None or busy is None or not limits.gpu_least_pct <= util <= limits.gpu_most_pct:
        return None
    if busy < limits.cpu_pct and _runnable_share(history, rank, limits.window_s) < NEARLY_ALL:
        return None
    power = _power_share(history, rank, limits.window_s)
    if power is not None and power > limits.power_share:
        return None
    beside = share_of(rank, "data", "data-main", "sync", "collective", "logging", "checkpoint")
    proven = share_at_least(_compute(rank), rank.stack.samples) >= limits.compute_share
    return util if proven and beside <= limits.other_share else None


def _compute(rank: Rank) -> float:
    return share_of(rank, *_COMPUTE)


def _busy_pct(history: History, rank: Rank, window_s: float) -> float | None:
    """Main thread; in backward autograd's thread does the launching while the main one sleeps."""

    def busy(seen: Rank) -> float | None:
        known = [
            seen.process.main_thread_cpu_pct,
            None if seen.process.cpu_pct is None else min(seen.process.cpu_pct, 100.0),
        ]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(window_s, rank.rank, busy)


def _runnable_share(history: History, rank: Rank, window_s: float) -> float:
    states = [
        seen.process.os_state
        for derived in history.over(window_s)
        for seen in (derived.job.ranks if derived.job is not None else ())
        if seen.pid == rank.pid
    ]
    return states.count("R") / len(states) if states else 0.0


def _power_share(history: History, rank: Rank, window_s: float) -> float | None:
    def power(derived: DerivedState) -> float | None:
        known = [
            gpu.power_w / gpu.power_limit_w
            for gpu in derived.gpus
            if gpu.index in rank.gpus and gpu.power_w is not None and gpu.power_limit_w
        ]
        return fmean(known) if known else None

    return history.mean(window_s, power)


def _proves(rank: Rank, share: float, phase: Phase) -> bool:
    is_training = rank.state not in ("starting", "stopped", "stuck")
    return (
        is_training
        and rank.stack.samples >= MIN_SAMPLES
        and share_at_least(share_of(rank, phase), rank.stack.samples) >= share
    )


def _shares(ranks: Sequence[Rank], phase: Phase) -> tuple[str, ...]:
    return tuple(
        f"rank {rank.rank}: {percent(share_of(rank, phase))} of {rank.stack.samples} stack samples in {phase}"
        for rank in ranks[:SHOWN]
    )


def _lines(rank: Rank, phase: Phase) -> tuple[str, ...]:
    lines = [line for line in rank.stack.hot_lines if line.phase == phase][:2]
    return tuple(
        f"{reported(line)} in {line.function}: {percent(line.share)} of rank {rank.rank}'s samples" for line in lines
    )
