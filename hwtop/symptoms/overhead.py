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
from hwtop.symptoms.loading import MIN_SAMPLES, WINDOW_S
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.statistics import share_at_least

LOGGING_SHARE = 0.10
"""Of the samples, proven. Engineering default."""
SYNC_SHARE = 0.30
"""Of the samples, proven, in waits for the device ..."""
SYNC_GPU_PCT = 70.0
"""... while the device has breaks: waiting for a busy GPU is what a healthy job does. Engineering defaults."""
LAUNCH_WINDOW_S = 15.0
LAUNCH_GPU_PCT = (GPU_IDLE_PCT, 80.0)
LAUNCH_CPU_PCT = 90.0
"""Of a core, main thread (or the process, while autograd's own thread launches) ..."""
LAUNCH_WANTED_SHARE = 0.9
"""... or on the run queue in so many of the looks: the same need on a full machine."""
LAUNCH_COMPUTE_SHARE = 0.5
"""Of the samples, proven, in forward, backward, optimizer or user code."""
LAUNCH_OTHER_SHARE = 0.15
"""At most so much in data loading and in waits for the device: those make breaks on the GPU as well."""
LAUNCH_POWER_SHARE = 0.6
"""Of the power limit, where it can be read: small kernels do not heat a GPU. Engineering defaults."""
_COMPUTE: tuple[Phase, ...] = ("forward", "backward", "optimizer", "other")


def hottest(rank: Rank, phase: Phase) -> HotLine | None:
    """The line of this phase with most samples."""
    return next((line for line in rank.hot_lines if line.phase == phase), None)


def told(line: HotLine) -> str:
    """ "`loss.item()` (train.py:88)", or its function where the text is not known."""
    return f"`{line.code or line.function}` ({line.file.rsplit('/', 1)[-1]}:{line.line})"


def check_logging(history: History) -> Observation | None:
    """Ranks that spend much of their time writing logs and metrics."""
    hit = [rank for rank in history.live_ranks if _proves(rank, LOGGING_SHARE, "logging")]
    if not hit:
        return None
    numbers = [rank.rank for rank in hit]
    rank = max(hit, key=lambda each: share_of(each, "logging"))
    share = share_of(rank, "logging")
    line = hottest(rank, "logging")
    return Observation(
        severity="warning",
        confidence=min(0.95, 0.65 + share_at_least(share, rank.samples) / 2),
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


def check_sync(history: History) -> Observation | None:
    """Ranks that wait for their GPU time and again, so that it has nothing queued when it is done."""
    hit = [
        (rank, util)
        for rank in history.live_ranks
        if rank.gpus
        and _proves(rank, SYNC_SHARE, "sync")
        and (util := gpu_util(history, rank, WINDOW_S)) is not None
        and util < SYNC_GPU_PCT
    ]
    if not hit:
        return None
    numbers = [rank.rank for rank, _ in hit]
    rank, util = max(hit, key=lambda entry: share_of(entry[0], "sync"))
    share = share_of(rank, "sync")
    line = hottest(rank, "sync")
    return Observation(
        severity="warning",
        confidence=min(0.9, 0.6 + share_at_least(share, rank.samples) / 2),
        title=f"{named(numbers).capitalize()} {do(numbers, 'stop')} to wait for the GPU {share:.0%} of the time"
        + (f", at {told(line)}," if line else ",")
        + f" and the GPU is only {util:.0f} % busy",
        evidence=(
            *_shares([rank for rank, _ in hit], "sync"),
            f"GPU {rank_set(rank.gpus)}: {util:.0f} % busy over {WINDOW_S:.0f} s: it runs dry after each wait",
            *_lines(rank, "sync"),
        ),
        next_steps=(
            f"Keep values on the GPU{f' at {told(line)}' if line else ''}: add up loss.detach(), read it every N steps",
            "torch.cuda.set_sync_debug_mode('warn')   # names every line that waits",
            "Copies: pinned memory and non_blocking=True; no .cpu(), .item(), print(tensor) or `if tensor:` in the step",
        ),
        ranks=tuple(numbers),
    )


def check_launch(history: History) -> Observation | None:
    """The GPU has breaks because one thread cannot launch its kernels fast enough."""
    hit = [(rank, util) for rank in history.live_ranks if (util := _launch_bound_util(history, rank)) is not None]
    if not hit:
        return None
    numbers = [rank.rank for rank, _ in hit]
    rank, util = hit[0]
    power = _power_share(history, rank)
    hot = rank.hot[0] if rank.hot else None
    return Observation(
        severity="warning",
        confidence=0.75 if power is not None else 0.6,
        title=f"{named(numbers).capitalize()} {do(numbers, 'be')} bound by launching kernels: one core at "
        f"{_busy_pct(history, rank) or 0.0:.0f} %, GPU {rank_set(rank.gpus)} only {util:.0f} % busy",
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


def _launch_bound_util(history: History, rank: Rank) -> float | None:
    """Utilization of its GPUs if this rank is bound by launching."""
    if not rank.gpus or rank.samples < MIN_SAMPLES or rank.state not in ("training", "slow"):
        return None
    util, busy = gpu_util(history, rank, LAUNCH_WINDOW_S), _busy_pct(history, rank)
    if util is None or busy is None or not LAUNCH_GPU_PCT[0] <= util <= LAUNCH_GPU_PCT[1]:
        return None
    if busy < LAUNCH_CPU_PCT and _runnable_share(history, rank) < LAUNCH_WANTED_SHARE:
        return None
    power = _power_share(history, rank)
    if power is not None and power > LAUNCH_POWER_SHARE:
        return None
    beside = share_of(rank, "data", "data-main", "sync", "collective", "logging", "checkpoint")
    proven = share_at_least(_compute(rank), rank.samples) >= LAUNCH_COMPUTE_SHARE
    return util if proven and beside <= LAUNCH_OTHER_SHARE else None


def _compute(rank: Rank) -> float:
    return share_of(rank, *_COMPUTE)


def _busy_pct(history: History, rank: Rank) -> float | None:
    """Main thread; in backward autograd's thread does the launching while the main one sleeps."""

    def busy(seen: Rank) -> float | None:
        known = [seen.main_thread_cpu_pct, None if seen.cpu_pct is None else min(seen.cpu_pct, 100.0)]
        return max((value for value in known if value is not None), default=None)

    return history.rank_mean(LAUNCH_WINDOW_S, rank.rank, busy)


def _runnable_share(history: History, rank: Rank) -> float:
    states = [
        seen.os_state
        for moment in history.over(LAUNCH_WINDOW_S)
        for seen in (moment.job.ranks if moment.job is not None else ())
        if seen.pid == rank.pid
    ]
    return states.count("R") / len(states) if states else 0.0


def _power_share(history: History, rank: Rank) -> float | None:
    def power(moment: Moment) -> float | None:
        known = [
            gpu.power_w / gpu.power_limit_w
            for gpu in moment.gpus
            if gpu.index in rank.gpus and gpu.power_w is not None and gpu.power_limit_w
        ]
        return fmean(known) if known else None

    return history.mean(LAUNCH_WINDOW_S, power)


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
        threshold=(
            f"surely over {SYNC_SHARE:.0%} of the samples in waits for the device, which is under {SYNC_GPU_PCT:.0f} % busy over "
            f"{WINDOW_S:.0f} s"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_sync,
    ),
    Rule(
        symptom="launch-bound",
        category="performance",
        threshold=(
            f"GPU {LAUNCH_GPU_PCT[0]:.0f} to {LAUNCH_GPU_PCT[1]:.0f} % busy and under {LAUNCH_POWER_SHARE:.0%} of its power limit for "
            f"{LAUNCH_WINDOW_S:.0f} s, a core over {LAUNCH_CPU_PCT:.0f} % (or always wanted), surely over {LAUNCH_COMPUTE_SHARE:.0%} of the samples in "
            f"forward, backward or optimizer, at most {LAUNCH_OTHER_SHARE:.0%} beside them"
        ),
        raise_s=2.0,
        clear_s=20.0,
        check=check_launch,
    ),
    Rule(
        symptom="logging-overhead",
        category="performance",
        threshold=f"surely over {LOGGING_SHARE:.0%} of the samples in logging libraries or print()",
        raise_s=3.0,
        clear_s=20.0,
        check=check_logging,
    ),
)
