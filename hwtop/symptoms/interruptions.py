"""checkpoint-stall, recompile-storm: what stops the training now and then, too often or for too long."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.hang.rank_state import CHECKPOINT_CLOCK_S, CHECKPOINTS, usual_checkpoint_s
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.spells import Recurrence, recurrence
from hwtop.model.rank import DataFile, Rank, Spell
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.overhead import hottest, told
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Count, Hold, Limits, Observation, Rule, Share
from hwtop.symptoms.statistics import proven_confidence, share_at_least

_FILE_WINDOW_S = 60.0
WARM_STEPS = 10
"""Compiling in the first steps that hwtop sees is no storm: shapes, evaluation and the last batch differ once."""
WARM_S = 60.0
"""The same where no step is told."""
EACH_STEPS, EACH_SHARE, EACH_WINDOW_S = 5, 0.5, 120.0
"""So many told steps, each half in the compiler, and half of all: each is compiled anew. Shapes that differ are compiled with dynamic
ones from their second time on. Engineering defaults."""


class CheckpointLimits(Limits, frozen=True, kw_only=True):
    """Of checkpoint-stall."""

    share: Share = 0.10
    """Of the looks over whole periods, proven; a save a minute that takes 5 s stays under it. Engineering default."""
    periods: Count = 2
    long_s: Hold = 30.0
    """A single save is called too long when the rank's own clock for it has run out, and never under half a minute."""


CHECKPOINT = CheckpointLimits()


class CompileLimits(Limits, frozen=True, kw_only=True):
    """Of recompile-storm."""

    share: Share = 0.10
    """Of the looks over whole periods, proven. Engineering default."""
    periods: Count = 3


COMPILE = CompileLimits()


class _Long(Struct, frozen=True):
    """A checkpoint that goes on."""

    seconds: float
    usual_s: float | None


def check_checkpoint(history: History, limits: CheckpointLimits = CHECKPOINT) -> Observation | None:
    """Saving takes a large share of the time, or this once far longer than usual."""
    for rank in history.live_ranks:
        spells = [spell for spell in rank.spells if spell.phase == "checkpoint"]
        if not spells:
            continue
        often = _often(history, spells, limits.share, limits.periods)
        if often is not None:
            return _checkpoint(history, rank, _often_title(rank, often), often)
        long = _too_long(rank, spells[-1], limits.long_s)
        if long is not None:
            usual = f", usually {long.usual_s:.1f} s" if long.usual_s is not None else ""
            title = f"Rank {rank.rank} saves a checkpoint for {long.seconds:.0f} s{usual}: the training waits"
            return _checkpoint(history, rank, title, None)
    return None


def _often(history: History, spells: Sequence[Spell], share: float, periods: int) -> Recurrence | None:
    """If the spells come again and again, still do, and surely take more than `share`."""
    found = recurrence(spells)
    if found is None or found.periods < periods or share_at_least(found.share, found.looks) < share:
        return None
    usual_s = found.seconds / found.periods
    return found if history.now.at_s - spells[-1].to_s <= 2.5 * usual_s else None


def _too_long(rank: Rank, last: Spell, least_s: float) -> _Long | None:
    lasts_s = last.to_s - last.from_s
    usual_s = usual_checkpoint_s(rank)
    limit_s = CHECKPOINT_CLOCK_S if usual_s is None else max(least_s, CHECKPOINTS * usual_s)
    return None if last.over_by_s is not None or lasts_s < limit_s else _Long(lasts_s, usual_s)


def _often_title(rank: Rank, often: Recurrence) -> str:
    period_s = often.seconds / often.periods
    return (
        f"Checkpoints stop rank {rank.rank} for {often.share:.0%} of the time: every {period_s:.0f} s for about "
        f"{often.share * period_s:.1f} s"
    )


def _checkpoint(history: History, rank: Rank, title: str, often: Recurrence | None) -> Observation:
    rate = _write_rate(history, rank)
    file = _file(history, rank)
    line = hottest(rank, "checkpoint")
    where = (
        f"{file.path} on {file.mount_point or 'an unknown mount'} ({file.fs_type or 'type unknown'})" if file else None
    )
    return Observation(
        severity="warning",
        confidence=0.9 if often is not None else 0.75,
        title=title,
        evidence=(
            *((f"{often.share:.0%} of {often.looks} looks over {often.periods} whole periods",) if often else ()),
            *((f"writes {rate / 1e6:.1f} MB/s while it saves",) if rate is not None else ()),
            *((f"saves at {told(line)}",) if line else ()),
            *((f"file open: {where}",) if where else ()),
        ),
        next_steps=(
            "torch.distributed.checkpoint.async_save   # the training goes on while a thread writes",
            "Save less often, each rank its own shard, or to a local disk and copy from there",
            "iostat -x 1   # is the device at its limit, and with which latency",
            *((f"df -h {file.path.rsplit('/', 1)[0]}   # which file system that is",) if file else ()),
        ),
        ranks=(rank.rank,),
    )


def _file(history: History, rank: Rank) -> DataFile | None:
    """The one that was open when it last saved: descriptors are read every few seconds only."""
    for moment in reversed(history.over(_FILE_WINDOW_S)):
        for seen in moment.job.ranks if moment.job is not None else ():
            if seen.pid == rank.pid and seen.file is not None:
                return seen.file
    return None


def _write_rate(history: History, rank: Rank) -> float | None:
    """Bytes a second to storage in those moments of the last minute in which it saved."""

    def rate(seen: Rank) -> float | None:
        return seen.written_bytes_per_s if seen.phase == "checkpoint" else None

    rates = [value for _, value in history.rank_series(60.0, rank.rank, rate)]
    return fmean(rates) if rates else None


def check_recompile(history: History, limits: CompileLimits = COMPILE) -> Observation | None:
    """The compiler runs again and again although the training is well under way, or says itself that it gives up."""
    hit = [(rank, often) for rank in history.live_ranks if (often := _recompiles(history, rank, limits)) is not None]
    if not hit:
        return check_pattern("recompile-storm", history)
    numbers = [rank.rank for rank, _ in hit]
    rank, often = max(hit, key=lambda entry: entry[1].share)
    line = hottest(rank, "compile")
    logged = check_pattern("recompile-storm", history)
    return Observation(
        severity="warning",
        confidence=proven_confidence(often.share, often.looks, base=0.7, most=0.95),
        title=f"{named(numbers).capitalize()} {do(numbers, 'compile')} again and again: {often.share:.0%} of the time, "
        f"{often.periods} times in {often.seconds:.0f} s" + (f", at {told(line)}" if line else ""),
        evidence=(
            *(f"rank {each.rank}: {found.share:.0%} of {found.looks} looks in the compiler" for each, found in hit[:4]),
            *(logged.evidence if logged is not None else ()),
        ),
        next_steps=playbooks()["recompile-storm"].steps,
        ranks=tuple(numbers),
        log_line=logged.log_line if logged is not None else None,
    )


def _recompiles(history: History, rank: Rank, limits: CompileLimits) -> Recurrence | None:
    spells = [spell for spell in rank.spells if spell.phase == "compile"]
    warm_s = _warm_at_s(history, rank) if len(spells) > limits.periods else None
    if warm_s is None:
        return _in_each_step(history, rank)
    spells = [spell for spell in spells if spell.from_s > warm_s]
    return _often(history, spells, limits.share, limits.periods)


def _in_each_step(history: History, rank: Rank) -> Recurrence | None:
    """It compiles during most of the steps that it has told: then nothing divides one compilation from the next."""
    window = history.over(EACH_WINDOW_S)
    looks: dict[int, list[bool]] = {}
    for moment in window:
        for seen in moment.job.ranks if moment.job is not None else ():
            if seen.pid == rank.pid and seen.progress is not None and seen.progress.step is not None:
                looks.setdefault(seen.progress.step, []).append(seen.phase == "compile")
    compiled = [each for each in looks.values() if sum(each) >= EACH_SHARE * len(each)]
    if len(compiled) < EACH_STEPS or len(compiled) < EACH_SHARE * len(looks):
        return None
    every = [is_compiling for each in looks.values() for is_compiling in each]
    seconds = history.now.at_s - window[0].at_s
    return Recurrence(share=sum(every) / len(every), looks=len(every), periods=len(compiled), seconds=seconds)


def _warm_at_s(history: History, rank: Rank) -> float | None:
    """When this process had told WARM_STEPS steps, or was seen for WARM_S where it tells none; None: not yet."""
    first_step: int | None = None
    first_at_s: float | None = None
    for moment in history.moments:
        for seen in moment.job.ranks if moment.job is not None else ():
            if seen.pid != rank.pid or seen.samples == 0:
                continue
            step = seen.progress.step if seen.progress else None
            first_at_s = moment.at_s if first_at_s is None else first_at_s
            first_step = step if first_step is None else first_step
            told_enough = step is not None and first_step is not None and step - first_step >= WARM_STEPS
            if told_enough or (first_step is None and moment.at_s - first_at_s >= WARM_S):
                return moment.at_s
    return None


RULES = (
    Rule(
        symptom="checkpoint-stall",
        category="performance",
        threshold=lambda limits: (
            f"saving takes surely over {100 * limits.share:.3g}% of {limits.periods} or more whole periods; or one save takes "
            f"{CHECKPOINTS:.0f} times its median and {limits.long_s:g} s (the first: {CHECKPOINT_CLOCK_S:.0f} s)"
        ),
        raise_s=1.0,
        clear_s=30.0,
        check=check_checkpoint,
        limits=CHECKPOINT,
    ),
    Rule(
        symptom="recompile-storm",
        category="performance",
        threshold=lambda limits: (
            f"{limits.periods} or more compilations after {WARM_STEPS} steps (or {WARM_S:.0f} s), surely over {100 * limits.share:.3g}% of "
            f"the time from one to the next; or {EACH_STEPS} told steps, and half of all, that are compiling for half of their time; or the compiler says in the log that it gives up"
        ),
        raise_s=1.0,
        clear_s=60.0,
        check=check_recompile,
        limits=COMPILE,
    ),
)
