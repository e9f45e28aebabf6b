"""Levels: a watch condensed to the medians that two runs are compared by. Pure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from statistics import fmean, median
from typing import Any

from msgspec import Struct

from hwtop.job.launch.launcher import python_program
from hwtop.model.baseline import JobIdentity, Level
from hwtop.model.curve import CurveName
from hwtop.model.evidence import LEVEL_VALUES
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.job import Job
from hwtop.model.rank_stack import Phase
from hwtop.symptoms.gpu.load import busy_pct
from hwtop.symptoms.history import History
from hwtop.symptoms.host.pressure import some_pct
from hwtop.symptoms.statistics import block_medians, spread
from hwtop.symptoms.training.pace import WARM_POINTS
from hwtop.symptoms.training.series import series_of

PAST_POINTS = 20
"""The newest of the steps before hwtop came that count where too few came later. Engineering default."""
_BLOCKS = 8
"""Parts of a session whose medians are compared: they differ as much as those of two sessions would, which neighbouring
values do not. Engineering default."""


class Measure(Struct, frozen=True, kw_only=True):
    """A quantity that baselines hold. `least` and `least_share`: a smaller difference is of no account (engineering defaults)."""

    name: str
    words: str
    unit: str
    """ "s", "/s", "share", "%", "W", "MHz", "B" or "cores"."""
    least: float = 0.0
    least_share: float = 0.0
    value: Callable[[DerivedState], float | None] | None = None
    """None of what is no level of a moment: the pace and the phases."""
    gpu: Callable[[Gpu], float | None] | None = None
    """Of one GPU, where `value` is the mean over those of the job."""


def level_of(values: Sequence[float]) -> Level | None:
    """None without a number."""
    known = [value for value in values if isfinite(value)]
    if not known:
        return None
    noise = spread(block_medians(known, _BLOCKS)) if len(known) >= 2 * _BLOCKS else spread(known)
    return _rounded(median(known), noise, len(known))


def levels_of(history: History) -> dict[str, Level]:
    """All that is known of this watch."""
    found: dict[str, Level | None] = {name: level_of(_pace_values(history, name)) for name in _PACES}
    if found["step_time_s"] is None:
        found["step_time_s"] = level_of([value for derived in history.derived_states if (value := _step_time(derived))])
    found |= {phase.name: _share(history, *_PHASES[phase.name]) for phase in MEASURES if phase.name in _PHASES}
    for measure in MEASURES:
        if measure.value is not None:
            values = [value for derived in history.derived_states if (value := measure.value(derived)) is not None]
            found[measure.name] = level_of(values)
    return {name: level for name, level in found.items() if level is not None}


def levels_of_ranks(history: History) -> dict[int, dict[str, Level]]:
    """Step time and phases of each rank."""
    found: dict[int, dict[str, Level]] = {}
    for number in sorted(rank.rank for rank in (history.job.ranks if history.job else ())):
        times = [rank.progress.step_time_s for _, rank in history.of_rank(history.watched_s, number)]
        levels = {"step_time_s": level_of([time for time in times if time is not None])}
        levels |= {name: _share(history, *phases, number=number) for name, phases in _PHASES.items()}
        found[number] = {name: level for name, level in levels.items() if level is not None}
    return found


def levels_of_gpus(history: History) -> dict[int, dict[str, Level]]:
    """Of each GPU of the job."""
    values: dict[int, dict[str, list[float]]] = {}
    for derived in history.derived_states:
        for gpu in _own_gpus(derived):
            for measure in MEASURES:
                if measure.gpu is not None and (value := measure.gpu(gpu)) is not None:
                    values.setdefault(gpu.index, {}).setdefault(measure.name, []).append(value)
    return {
        index: {name: level for name, each in named.items() if (level := level_of(each)) is not None}
        for index, named in sorted(values.items())
    }


def levels_of_log(step_times: Sequence[float], throughputs: Sequence[float]) -> dict[str, Level]:
    """Of the values that logs tell, warm-up left out."""
    reported: tuple[tuple[str, Sequence[float]], ...] = (("step_time_s", step_times), ("throughput", throughputs))
    levels = {name: level_of(without_warm_up(values)) for name, values in reported}
    return {name: level for name, level in levels.items() if level is not None}


def without_warm_up(values: Sequence[float]) -> Sequence[float]:
    """All of them where there are few."""
    return values[WARM_POINTS:] if len(values) >= 3 * WARM_POINTS else values


def identity_of(history: History) -> JobIdentity:
    """Of the job as it is now."""
    now, job = history.now, history.job
    memory = f", {now.memory.total_bytes / (1 << 30):.0f} GiB" if now.memory else ""
    names = [gpu.name for gpu in _own_gpus(now)]
    kinds = ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
    return JobIdentity(
        script=_script(job) if job else "unknown",
        world_size=(job.world_size or len(job.ranks) or None) if job else None,
        host=now.host,
        machine=f"{now.cores:g} cores{memory}",
        gpus=kinds or None,
    )


def _script(job: Job) -> str:
    """Never more of the command line than the name of what is run: arguments may be secrets."""
    pid = min((rank for rank in job.ranks), key=lambda rank: rank.rank).pid if job.ranks else job.target_pid
    argv = next((process.command for process in job.processes if process.pid == pid), "").split()
    if not argv:
        return job.launcher.kind if job.launcher else "unknown"
    name = os.path.basename(argv[0])
    if not name.startswith("python"):
        return name
    program = python_program(argv)
    return os.path.basename(program.name) if program.kind in ("script", "module") else name


def _pace_values(history: History, name: CurveName) -> list[float]:
    series = series_of(history, name)
    if series is None:
        return []
    points = without_warm_up([point.value for point in series.points if not point.is_past])
    if len(points) < LEVEL_VALUES:
        points = without_warm_up(series.values)[-PAST_POINTS:]
    return [value for value in points if value > 0]


def _step_time(derived: DerivedState) -> float | None:
    """Median over the ranks."""
    known = [
        rank.progress.step_time_s
        for rank in (derived.job.ranks if derived.job else ())
        if rank.progress.step_time_s is not None
    ]
    return median(known) if known else None


def _share(history: History, *phases: Phase, number: int | None = None) -> Level | None:
    """Of this rank, else the mean over all, from the newest moment in which they were sampled. The noise is that of so many samples."""
    for derived in reversed(history.derived_states):
        ranks = [
            rank
            for rank in (derived.job.ranks if derived.job else ())
            if rank.is_alive and rank.stack.samples and number in (None, rank.rank)
        ]
        if not ranks:
            continue
        shares = [sum(one.share for one in rank.stack.shares if one.phase in phases) for rank in ranks]
        share, count = fmean(shares), sum(rank.stack.samples for rank in ranks)
        smoothed = (share * count + 1) / (count + 2)  # none of ten is not yet never
        return _rounded(share, sqrt(smoothed * (1 - smoothed) / count), count)
    return None


def _rounded(middle: float, noise: float, count: int) -> Level:
    return Level(median=float(f"{middle:.6g}"), noise=float(f"{noise:.3g}"), samples=count)


def _own_gpus(derived: DerivedState) -> list[Gpu]:
    own = {index for rank in (derived.job.ranks if derived.job else ()) for index in rank.gpus}
    return [gpu for gpu in derived.gpus if gpu.index in own and gpu.status == "ok"]


def _of_gpus(gpu: Callable[[Gpu], float | None], **words: Any) -> Measure:
    """Of each GPU, and the mean over the job's."""

    def mean(derived: DerivedState) -> float | None:
        known = [found for each in _own_gpus(derived) if (found := gpu(each)) is not None]
        return fmean(known) if known else None

    return Measure(value=mean, gpu=gpu, **words)


def _job_memory(derived: DerivedState) -> float | None:
    """Memory of their own of all ranks with their workers."""
    ranks = [rank for rank in (derived.job.ranks if derived.job else ()) if rank.is_alive]
    known = [rank.process.tree_anon_bytes for rank in ranks if rank.process.tree_anon_bytes is not None]
    return float(sum(known)) if known and len(known) == len(ranks) else None


def _job_cores(derived: DerivedState) -> float | None:
    known = [
        process.cpu_pct for process in (derived.job.processes if derived.job else ()) if process.cpu_pct is not None
    ]
    return sum(known) / 100.0 if known else None


def _data_time(derived: DerivedState) -> float | None:
    reported = [
        rank.progress.newest.data_time_s for rank in (derived.job.ranks if derived.job else ()) if rank.progress.newest
    ]
    known = [value for value in reported if value is not None]
    return median(known) if known else None


_PACES: tuple[CurveName, ...] = ("step_time_s", "throughput")
_PHASES: dict[str, tuple[Phase, ...]] = {
    "data": ("data", "data-main"),
    "forward": ("forward",),
    "backward": ("backward",),
    "optimizer": ("optimizer",),
    "collective": ("collective",),
    "sync": ("sync",),
    "checkpoint": ("checkpoint",),
    "eval": ("eval",),
    "logging": ("logging",),
    "compile": ("compile",),
    "other": ("other",),
}
MEASURES = (
    Measure(name="step_time_s", words="step time", unit="s", least_share=0.10),
    Measure(name="throughput", words="throughput", unit="/s", least_share=0.10),
    *(Measure(name=name, words=f"{name} share", unit="share", least=0.05) for name in _PHASES),
    Measure(name="data_time_s", words="data wait a step", unit="s", least_share=0.10, least=0.001, value=_data_time),
    _of_gpus(busy_pct, name="gpu_util_pct", words="GPU utilization", unit="%", least=10.0),
    _of_gpus(lambda gpu: gpu.sm_clock_mhz, name="gpu_clock_mhz", words="GPU clock", unit="MHz", least_share=0.05),
    _of_gpus(lambda gpu: gpu.power_w, name="gpu_power_w", words="GPU power", unit="W", least_share=0.10),
    _of_gpus(lambda gpu: gpu.mem_used_bytes, name="gpu_memory_bytes", words="GPU memory", unit="B", least_share=0.10),
    Measure(name="job_cores", words="CPU of the job", unit="cores", least=0.25, least_share=0.15, value=_job_cores),
    Measure(
        name="cpu_pct",
        words="CPU of the machine",
        unit="%",
        least=10.0,
        value=lambda derived: derived.cpu.util_pct if derived.cpu else None,
    ),
    Measure(name="io_pressure_pct", words="I/O pressure", unit="%", least=5.0, value=some_pct("io")),
    Measure(
        name="retransmit_pct",
        words="TCP retransmits",
        unit="%",
        least=0.5,
        value=lambda derived: derived.network.tcp_retransmit_pct if derived.network else None,
    ),
    Measure(name="memory_bytes", words="memory of the job", unit="B", least_share=0.15, least=5e7, value=_job_memory),
)
"""In the order in which they are told."""
PHASES = frozenset(_PHASES)
