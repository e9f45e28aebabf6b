"""logging-overhead, device-sync-heavy, launch-bound: the training process spends its time beside the computation."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.job.rank_set import do, named, rank_set
from hwtop.model.frame import Moment
from hwtop.model.rank import HotLine, Phase, Rank
from hwtop.symptoms.gpu_idle import GPU_IDLE_PCT
from hwtop.symptoms.gpu_load import gpu_util
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import MIN_SAMPLES, WINDOW_S, has_begun
from hwtop.symptoms.rule import Limits, Observation, Percent, Rule, Share, Window
from hwtop.symptoms.statistics import proven_confidence, share_at_least

LAUNCH_WANTED_SHARE = 0.9
"""A core that is wanted in so many of the looks: the same need as a busy one on a full machine. Engineering default."""
_COMPUTE: tuple[Phase, ...] = ("forward", "backward", "optimizer", "other")


class LoggingLimits(Limits, frozen=True, kw_only=True):
    """Of logging-overhead."""

    logging_share: Share = 0.10
    """Of the samples, proven. Engineering default."""


LOGGING = LoggingLimits()


class SyncLimits(Limits, frozen=True, kw_only=True):
    """Of device-sync-heavy. Engineering defaults."""

    sync_share: Share = 0.30
    """Of the samples, proven, in waits for the device ..."""
    gpu_pct: Percent = 70.0
    """... while the device has breaks: waiting for a busy GPU is what a healthy job does."""
    window_s: Window = WINDOW_S


SYNC = SyncLimits()


class LaunchLimits(Limits, frozen=True, kw_only=True):
    """Of launch-bound: all must hold. Engineering defaults."""

    gpu_least_pct: Percent = GPU_IDLE_PCT
    gpu_most_pct: Percent = 80.0
    cpu_pct: Percent = 90.0
    """Of a core, main thread (or the process, while autograd's own thread launches)."""
    compute_share: Share = 0.5
    """Of the samples, proven, in forward, backward, optimizer or user code."""
    other_share: Share = 0.15
    """At most so much in data loading and in waits for the device: those make breaks on the GPU as well."""
    power_share: Share = 0.6
    """Of the power limit, where it can be read: small kernels do not heat a GPU."""
    window_s: Window = 15.0


LAUNCH = LaunchLimits()


def hottest(rank: Rank, phase: Phase) -> HotLine | None:
    """The line of this phase with most samples."""
    return next((line for line in rank.hot_lines if line.phase == phase), None)


def told(line: HotLine) -> str:
    """ "`loss.item()` (train.py:88)", or its function where the text is not known."""
    return f"`{line.code or line.function}` ({line.file.rsplit('/', 1)[-1]}:{line.line})"


def check_logging(history: History, limits: LoggingLimits = LOGGING) -> Observation | None:
    """Ranks that spend much of their time writing logs and metrics."""
    hit = [rank for rank in history.live_ranks if _proves(rank, limits.logging_share, "logging") and has_begun(rank)]
    if not hit:
        return None
    numbers = [rank.rank for rank in hit]
    rank = max(hit, key=lambda each: share_of(each, "logging"))
    share = share_of(rank, "logging")
    line = hottest(rank, "logging")
    return Observation(
        severity="warning",
        confidence=proven_confidence(share, rank.samples, base=0.65, most=0.95),
        title=f"{named(numbers).capitalize()} {do(numbers, 'spend')} {share:.0%} of the time on logging"
        + (f": {told(line)}" if line else ""),
        evidence=(*_shares(hit, "logging"), *_lines(rank, "logging")),
        next_steps=(
            f"Log every N steps only, or hand the values to a thread that writes them{f': {told(line)}' if line else ''}",
            "wandb: WANDB_MODE=offline for one run shows what the network takes; TensorBoard: larger flush_secs and max_queue",
            f"ls -l /proc/{rank.pid}/fd/1   # a slow terminal, pipe or network file system makes print() wait",
        ),
        ranks=tuple(numbers),
    )


def check_sync(history: History, limits: SyncLimits = SYNC) -> Observation | None:
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
    return Observation(
        severity="warning",
        confidence=proven_confidence(share, rank.samples, base=0.6, most=0.9),
        title=f"{named(numbers).capitalize()} {do(numbers, 'stop')} to wait for the GPU {share:.0%} of the time"
        + (f", at {told(line)}," if line else ",")
        + f" and the GPU is only {util:.0f} % busy",
        evidence=(
            *_shares([rank for rank, _ in hit], "sync"),
            f"GPU {rank_set(rank.gpus)}: {util:.0f} % busy over {limits.window_s:g} s: it runs dry after each wait",
            *_lines(rank, "sync"),
        ),
        next_steps=(
            f"Keep values on the GPU{f' at {told(line)}' if line else ''}: add up loss.detach(), read it every N steps",
            "torch.cuda.set_sync_debug_mode('warn')   # names every line that waits",
            "Copies: pinned memory and non_blocking=True; no .cpu(), .item(), print(tensor) or `if tensor:` in the step",
        ),
        ranks=tuple(numbers),
    )


def check_launch(history: History, limits: LaunchLimits = LAUNCH) -> Observation | None:
    """The GPU has breaks because one thread cannot launch its kernels fast enough."""
    hit = [
        (rank, util) for rank in history.live_ranks if (util := _launch_bound_util(history, rank, limits)) is not None
    ]
    if not hit:
        return None
    numbers = [rank.rank for rank, _ in hit]
    rank, util = hit[0]
    power = _power_share(history, rank, limits.window_s)
    hot = rank.hot[0] if rank.hot else None
    return Observation(
        severity="warning",
        confidence=0.75 if power is not None else 0.6,
        title=f"{named(numbers).capitalize()} {do(numbers, 'be')} bound by launching kernels: one core at "
        f"{_busy_pct(history, rank, limits.window_s) or 0.0:.0f} %, GPU {rank_set(rank.gpus)} only {util:.0f} % busy",
        evidence=(
            *(
                f"rank {each.rank}: {_compute(each):.0%} of {each.samples} samples in forward, backward and optimizer"
                for each, _ in hit[:4]
            ),
            *(
                (f"GPU {rank_set(rank.gpus)} takes {power:.0%} of its power limit: small kernels",)
                if power is not None
                else ()
            ),
            *(
                (f"hottest line {hot.function} ({hot.file.rsplit('/', 1)[-1]}:{hot.line}): {hot.share:.0%}",)
                if hot
                else ()
            ),
            f"data loading {share_of(rank, 'data', 'data-main'):.0%}, waits for the device {share_of(rank, 'sync'):.0%}",
        ),
        next_steps=(
            'torch.compile(model, mode="reduce-overhead")   # CUDA graphs: one launch for many kernels',
            "A larger batch per GPU makes each kernel longer at the same launch cost",
            "fused=True or foreach=True in the optimizer; fewer small operations and Python loops in forward",
        ),
        ranks=tuple(numbers),
    )


def _launch_bound_util(history: History, rank: Rank, limits: LaunchLimits) -> float | None:
    """Utilization of its GPUs if this rank is bound by launching."""
    if not rank.gpus or rank.samples < MIN_SAMPLES or rank.state not in ("training", "slow"):
        return None
    util, busy = gpu_util(history, rank, limits.window_s), _busy_pct(history, rank, limits.window_s)
    if util is None or busy is None or not limits.gpu_least_pct <= util <= limits.gpu_most_pct:
        return None
    if busy < limits.cpu_pct and _runnable_share(history, rank, limits.window_s) < LAUNCH_WANTED_SHARE:
        return None
    power = _power_share(history, rank, limits.window_s)
    if power is not None and power > limits.power_share:
        return None
    beside = share_of(rank, "data", "data-main", "sync", "collective", "logging", "checkpoint")
    proven = share_at_least(_compute(rank), rank.samples) >= limits.compute_share
    return util if proven and beside <= limits.other_share else None


def _compute(rank: Rank) -> float:
    return share_of(rank, *_COMPUTE)


def _busy_pct(history: History, rank: Rank, window_s: float) -> float | None:
    """Main thread; in backward autograd's thread does the launching while the main one sleeps."""

    def busy(seen: Rank) -> float | None:
        known = [seen.main_thread_cpu_pct, None if seen.cpu_pct is None else min(seen.cpu_pct, 100.0)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(window_s, rank.rank, busy)


def _runnable_share(history: History, rank: Rank, window_s: float) -> float:
    states = [
        seen.os_state
        for moment in history.over(window_s)
        for seen in (moment.job.ranks if moment.job is not None else ())
        if seen.pid == rank.pid
    ]
    return states.count("R") / len(states) if states else 0.0


def _power_share(history: History, rank: Rank, window_s: float) -> float | None:
    def power(moment: Moment) -> float | None:
        known = [
            gpu.power_w / gpu.power_limit_w
            for gpu in moment.gpus
            if gpu.index in rank.gpus and gpu.power_w is not None and gpu.power_limit_w
        ]
        return fmean(known) if known else None

    return history.mean(window_s, power)


def _proves(rank: Rank, share: float, phase: Phase) -> bool:
    is_training = rank.state not in ("starting", "stopped", "stuck")
    return is_training and rank.samples >= MIN_SAMPLES and share_at_least(share_of(rank, phase), rank.samples) >= share


def _shares(ranks: Sequence[Rank], phase: Phase) -> tuple[str, ...]:
    return tuple(
        f"rank {rank.rank}: {share_of(rank, phase):.0%} of {rank.samples} stack samples in {phase}"
        for rank in ranks[:4]
    )


def _lines(rank: Rank, phase: Phase) -> tuple[str, ...]:
    lines = [line for line in rank.hot_lines if line.phase == phase][:2]
    return tuple(f"{told(line)} in {line.function}: {line.share:.0%} of rank {rank.rank}'s samples" for line in lines)


RULES = (
    Rule(
        symptom="device-sync-heavy",
        category="performance",
        threshold=lambda limits: (
            f"surely over {100 * limits.sync_share:.3g}% of the samples in waits for the device, which is under {limits.gpu_pct:g} % busy over "
            f"{limits.window_s:g} s"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_sync,
        limits=SYNC,
    ),
    Rule(
        symptom="launch-bound",
        category="performance",
        threshold=lambda limits: (
            f"GPU {limits.gpu_least_pct:g} to {limits.gpu_most_pct:g} % busy and under {100 * limits.power_share:.3g}% of its power limit for "
            f"{limits.window_s:g} s, a core over {limits.cpu_pct:g} % (or always wanted), surely over {100 * limits.compute_share:.3g}% of the samples in "
            f"forward, backward or optimizer, at most {100 * limits.other_share:.3g}% beside them"
        ),
        raise_s=2.0,
        clear_s=20.0,
        check=check_launch,
        limits=LAUNCH,
    ),
    Rule(
        symptom="logging-overhead",
        category="performance",
        threshold=lambda limits: (
            f"surely over {100 * limits.logging_share:.3g}% of the samples in logging libraries, print(), lines that write to a log or send over the network"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_logging,
        limits=LOGGING,
    ),
)
