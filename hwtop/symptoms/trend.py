"""step-time-rising: the training becomes slower little by little."""

from __future__ import annotations

from statistics import median

from hwtop.symptoms.earlier import earlier_evidence
from hwtop.symptoms.history import History
from hwtop.symptoms.pace import BLOCKS, DOUBLED, PACE, Pace, PaceLimits, agrees, is_steadier, lasted_s, paces
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.series import when
from hwtop.symptoms.statistics import block_medians, trend

RISE_POINTS = 120
DOUBLED_POINTS = 60
"""... where it has doubled. The first values of a run, which warm it up, are left out before. Engineering defaults."""
RISE_S = 60.0
TRIPLED, TRIPLED_S = 3.0, 25.0
"""... where it has tripled, over as many values. Engineering defaults."""
RISE_TAU = 0.6
"""Order of the block medians (Kendall's tau): 1 = each is above all before it."""
_ENDS = 5


def check_rising(history: History, limits: PaceLimits = PACE) -> Observation | None:
    """Steps take longer and longer, with no single change that explains it."""
    for pace, other in paces(history):
        values = pace.values
        seconds = lasted_s(pace, 0)
        if len(values) < DOUBLED_POINTS or seconds < TRIPLED_S:
            continue
        blocks = block_medians(values, BLOCKS)
        line, newest = trend(blocks), trend(blocks[len(blocks) // 2 :])
        start, now = median(blocks[:_ENDS]), median(blocks[-_ENDS:])
        least = _least(len(values), seconds, limits)
        is_rising = now >= least * start and line.low > 0 and line.tau >= RISE_TAU and newest.tau > 0
        if not is_rising or not is_steadier(values):
            continue
        middle = pace.points[len(pace.points) // 2]
        if other is not None and not agrees(other, middle, limits.slower_share / 4):
            return None
        return _rising(history, pace, start, now)
    return None


def _least(count: int, seconds: float, limits: PaceLimits) -> float:
    """By how much so few values in so short a time must have risen."""
    if seconds < RISE_S:
        return TRIPLED if count >= RISE_POINTS else float("inf")
    return 1 + limits.slower_share if count >= RISE_POINTS else DOUBLED


def _rising(history: History, pace: Pace, start: float, now: float) -> Observation:
    first, last = pace.points[0], pace.points[-1]
    steps = f" over {last.step - first.step} steps" if last.step is not None and first.step is not None else ""
    since = when(history, first).removeprefix("at ")
    what = "Throughput falls" if pace.is_throughput else "Step time rises"
    return Observation(
        severity="warning",
        confidence=0.7,
        title=f"{what} little by little since {since}: from {pace.shown(start)} to {pace.shown(now)}",
        evidence=(
            f"line through {BLOCKS} medians of {len(pace.values)} values{steps} (Theil-Sen, 95 % sure to rise)",
            "one single change explains them less well",
            *earlier_evidence(history),
        ),
        next_steps=(
            "Does anything grow with the steps? Lists of losses that keep their graph (use loss.item()), metrics, caches, hooks",
            "hwtop PID   # memory of the ranks, temperature and clocks of the GPUs over the same time",
            "torch.cuda.memory_summary()   # fragmentation: many retries, much reserved but not allocated",
            "Do sequences or batches grow by plan? Then tokens a second must stay the same: log them",
        ),
        ranks=pace.series.ranks(),
    )


RULES = (
    Rule(
        symptom="step-time-rising",
        category="performance",
        threshold=lambda limits: (
            f"line through {BLOCKS} medians of at least {RISE_POINTS} values ({DOUBLED_POINTS} where it doubles) over {RISE_S:.0f} s ({TRIPLED_S:.0f} s where it triples) rises by {100 * limits.slower_share:.3g}% (95 % sure, tau {RISE_TAU:g}), and "
            "explains them better than one change"
        ),
        raise_s=5.0,
        clear_s=30.0,
        check=check_rising,
        limits=PACE,
    ),
)
