"""Earlier runs of the same job: what tells that it is the same, and how its pace compares. Pure.

A context, never an alarm: a person may have changed what no command line shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from hwtop.job.log.text import storable
from hwtop.model.baseline import Baseline, Comparison, Level
from hwtop.model.process import ProcessInfo
from hwtop.seconds import minute
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.baseline import compare
from hwtop.symptoms.runs.levels import identity_of, levels_of
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.series import curve_of

KEPT = ("step_time_s", "throughput", "gpu_util_pct", "gpu_power_w")
"""What is remembered of a job."""
LEAST_STEPS = 20
"""So many steps make a pace that is remembered, or compared. Engineering default."""


def job_key(history: History, processes: Sequence[ProcessInfo]) -> str | None:
    """The same for each run with this command line, folder, world size and kind of GPU; a hash, so that it tells nobody what
    they are. None before they are known."""
    job = history.job
    first = min(job.ranks, key=lambda rank: rank.rank, default=None) if job else None
    process = next((each for each in processes if first is not None and each.pid == first.pid), None)
    if process is None or not process.cmdline or process.cwd is None:
        return None
    identity = identity_of(history)
    reported = msgspec.json.encode([process.cmdline, storable(process.cwd), identity.world_size, identity.gpus])
    return sha256(reported).hexdigest()[:32]


def summary(history: History, hwtop: str, watched_s: float) -> Baseline | None:
    """What is worth remembering of this history; None where it tells too few steps."""
    levels = {name: level for name, level in levels_of(history).items() if name in KEPT}
    pace = levels.get("step_time_s") or levels.get("throughput")
    if pace is None or pace.samples < LEAST_STEPS:
        return None
    reported = curve_of(history, "throughput")
    return Baseline(
        hwtop=hwtop,
        saved_time_s=history.now.time_s,
        watched_s=round(watched_s, 1),
        identity=identity_of(history),
        throughput_unit=reported.unit if reported else None,
        levels=levels,
    )


def quickest(runs: Sequence[Baseline]) -> Baseline | None:
    """The one to compare with; of equal ones the newest."""

    def step_s(run: Baseline) -> float:
        time, rate = run.levels.get("step_time_s"), run.levels.get("throughput")
        return (
            time.median if time is not None else 1 / rate.median if rate is not None and rate.median else float("inf")
        )

    return min(reversed(runs), key=step_s, default=None)


def against_earlier(history: History) -> Comparison | None:
    """This run beside the earlier one; None where nothing comparable is known of both."""
    then = history.earlier
    now = None if then is None else summary(history, "", history.watched_s)
    found = None if then is None or now is None else compare(then, now)
    return None if found is None or found.is_slower is None else found


def earlier_words(history: History) -> str | None:
    """ "0.44 s a step; 0.31 s on 2026-11-20 14:02 (same command, folder, world size): 42 % slower"."""
    found, then = against_earlier(history), history.earlier
    pace = None if found is None else next(each for each in found.differences if each.name == found.pace)
    if found is None or then is None or pace is None:
        return None
    day = minute(then.saved_time_s)
    change = pace.now.median / pace.then.median - 1
    more = "more" if change > 0 else "less"
    how = f"{percent(abs(change))} {more}" if pace.is_clear else "no clear difference"
    gpus = [
        f"{words} {each.then.median:.0f} then, {each.now.median:.0f} {unit} now"
        for name, words, unit in (("gpu_util_pct", "GPU utilization", "%"), ("gpu_power_w", "GPU power", "W"))
        for each in found.differences
        if each.name == name and each.is_clear
    ]
    reported = (
        f"{_shown(pace.now, then, pace.name)}, {_shown(pace.then, then, pace.name)} on {day} by the same command: {how}"
    )
    return "; ".join((reported, *gpus))


def earlier_evidence(history: History) -> tuple[str, ...]:
    """The same as a line of evidence."""
    words = earlier_words(history)
    return () if words is None else (f"compared with its earlier run: {words}",)


def _shown(level: Level, run: Baseline, name: str) -> str:
    return (
        f"{level.median:.3g} s a step" if name == "step_time_s" else f"{level.median:.4g} {run.throughput_unit or '/s'}"
    )
