"""checkpoint-stall, recompile-storm: what stops the training now and then, too often or for too long."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.hang.liveness import usual_checkpoint_s
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.intervals import Recurrence
from hwtop.job.stacks.series import WINDOW_S
from hwtop.model.rank import DataFile, Rank
from hwtop.model.rank_stack import PhaseInterval
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import proven_confidence, proven_recurrence
from hwtop.symptoms.text import SHOWN, Fact, Facts, percent
from hwtop.symptoms.training.overhead import hottest, reported
from hwtop.symptoms.training.pace import WARM_POINTS

WARM_S = 60.0
"""The same where no step is reported. Engineering default."""
EACH_STEPS, EACH_SHARE, EACH_WINDOW_S = 5, 0.5, 120.0
"""Steps within the time, and the share of each and of all in the compiler: each step is compiled. Shapes that differ are
compiled with dynamic ones from their second time on. Engineering default."""


CHECKPOINTS = 10.0
CHECKPOINT_CLOCK_S = 600.0
"""A checkpoint may take 10 times its own median; where none was seen before, 10 minutes. Engineering defaults."""
CHECKPOINT = limits_of("checkpoint-stall")


COMPILE = limits_of("recompile-storm")


class _Long(Struct, frozen=True):
    """A checkpoint that goes on."""

    seconds: float
    usual_s: float | None


def check_checkpoint(history: History, limits: Limits = CHECKPOINT) -> Observation | None:
    """Saving takes a large share of the time, or this once far longer than usual."""
    for rank in history.live_ranks:
        intervals = rank.stack.intervals_of("checkpoint")
        if not intervals:
            continue
        often = _often(history, intervals, limits.share, int(limits.periods))
        if often is not None:
            return _checkpoint(history, rank, _often_facts(often), often)
        long = _too_long(rank, intervals[-1], limits.long_s)
        if long is not None:
            return _checkpoint(history, rank, {"long_s": long.seconds, "usual_s": long.usual_s}, None)
    return None


def _often(history: History, intervals: Sequence[PhaseInterval], share: float, periods: int) -> Recurrence | None:
    """If the spells come again and again, still do, and surely take more than `share`."""
    found = proven_recurrence(intervals, share, periods)
    if found is None:
        return None
    usual_s = found.seconds / found.periods
    return found if history.now.at_s - intervals[-1].to_s <= 2.5 * usual_s else None


def _too_long(rank: Rank, last: PhaseInterval, least_s: float) -> _Long | None:
    lasts_s = last.to_s - last.from_s
    usual_s = usual_checkpoint_s(rank)
    limit_s = CHECKPOINT_CLOCK_S if usual_s is None else max(least_s, CHECKPOINTS * usual_s)
    return None if last.over_by_s is not None or lasts_s < limit_s else _Long(lasts_s, usual_s)


def _often_facts(often: Recurrence) -> dict[str, Fact]:
    period_s = often.seconds / often.periods
    return {"share": often.share, "period_s": period_s, "save_s": often.share * period_s}


def _checkpoint(history: History, rank: Rank, facts: Facts, often: Recurrence | None) -> Observation:
    rate = _write_rate(history, rank)
    file = _file(history, rank)
    line = hottest(rank, "checkpoint")
    where = (
        f"{file.path} on {file.mount_point or 'an unknown mount'} ({file.fs_type or 'type unknown'})" if file else None
    )
    return observed(
        "checkpoint-stall",
        confidence=0.9 if often is not None else 0.75,
        facts={"rank": rank.rank, "folder": file.path.rsplit("/", 1)[0] if file else None, **facts},
        evidence=(
            *(
                (f"{percent(often.share)} of {often.looks} samples over {often.periods} whole periods",)
                if often
                else ()
            ),
            *((f"writes {rate / 1e6:.1f} MB/s while it saves",) if rate is not None else ()),
            *((f"saves at {reported(line)}",) if line else ()),
            *((f"file open: {where}",) if where else ()),
        ),
        ranks=(rank.rank,),
    )


def _file(history: History, rank: Rank) -> DataFile | None:
    """The one that was open when it last saved: descriptors are read every few seconds only."""
    for derived in reversed(history.over(WINDOW_S)):
        for seen in derived.job.ranks if derived.job is not None else ():
            if seen.pid == rank.pid and seen.process.file is not None:
                return seen.process.file
    return None


def _write_rate(history: History, rank: Rank) -> float | None:
    """Bytes a second to storage in those moments of the last minute in which it saved."""

    def rate(seen: Rank) -> float | None:
        return seen.process.written_bytes_per_s if seen.stack.phase == "checkpoint" else None

    rates = [value for _, value in history.rank_series(60.0, rank.rank, rate)]
    return fmean(rates) if rates else None


def check_recompile(history: History, limits: Limits = COMPILE) -> Observation | None:
    """The compiler runs again and again although the training is well under way, or says itself that it gives up."""
    hit = [(rank, often) for rank in history.live_ranks if (often := _recompiles(history, rank, limits)) is not None]
    if not hit:
        return check_pattern("recompile-storm", history)
    numbers = [rank.rank for rank, _ in hit]
    rank, often = max(hit, key=lambda entry: entry[1].share)
    line = hottest(rank, "compile")
    logged = check_pattern("recompile-storm", history)
    return observed(
        "recompile-storm",
        confidence=proven_confidence(often.share, often.looks, base=0.7),
        facts={
            "ranks": named(numbers).capitalize(),
            "compile": do(numbers, "compile"),
            "share": often.share,
            "periods": often.periods,
            "seconds": often.seconds,
            "place": reported(line) if line else None,
        },
        evidence=(
            *(
                f"rank {each.rank}: {percent(found.share)} of {found.looks} samples in the compiler"
                for each, found in hit[:SHOWN]
            ),
            *(logged.evidence if logged is not None else ()),
        ),
        ranks=tuple(numbers),
        log_line=logged.log_line if logged is not None else None,
    )


def _recompiles(history: History, rank: Rank, limits: Limits) -> Recurrence | None:
    intervals = rank.stack.intervals_of("compile")
    warm_s = _warm_at_s(history, rank) if len(intervals) > limits.periods else None
    often = None
    if warm_s is not None:
        since = [interval for interval in intervals if interval.from_s > warm_s]
        often = _often(history, since, limits.share, int(limits.periods))
    return often or _in_each_step(history, rank)


def _in_each_step(history: History, rank: Rank) -> Recurrence | None:
    """It compiles during most of the steps that it has told: then little or nothing divides one compilation from the next."""
    window = history.over(EACH_WINDOW_S)
    looks: dict[int, list[bool]] = {}
    for derived in window:
        for seen in derived.job.ranks if derived.job is not None else ():
            if seen.pid == rank.pid and seen.progress.newest is not None and seen.progress.newest.step is not None:
                looks.setdefault(seen.progress.newest.step, []).append(seen.stack.phase == "compile")
    compiled = [each for each in looks.values() if sum(each) >= EACH_SHARE * len(each)]
    if len(compiled) < EACH_STEPS or len(compiled) < EACH_SHARE * len(looks):
        return None
    every = [is_compiling for each in looks.values() for is_compiling in each]
    seconds = history.now.at_s - window[0].at_s
    return Recurrence(share=sum(every) / len(every), looks=len(every), periods=len(compiled), seconds=seconds)


def _warm_at_s(history: History, rank: Rank) -> float | None:
    """When this process had told WARM_POINTS steps, or was seen for WARM_S where it tells none; None: not yet."""
    first_step: int | None = None
    first_at_s: float | None = None
    for derived in history.derived_states:
        for seen in derived.job.ranks if derived.job is not None else ():
            if seen.pid != rank.pid or seen.stack.samples == 0:
                continue
            step = seen.progress.newest.step if seen.progress.newest else None
            first_at_s = derived.at_s if first_at_s is None else first_at_s
            first_step = step if first_step is None else first_step
            reported_enough = step is not None and first_step is not None and step - first_step >= WARM_POINTS
            if reported_enough or (first_step is None and derived.at_s - first_at_s >= WARM_S):
                return derived.at_s
    return None
