"""Suspects: what may slow a training down when it moves, read from a Moment, and how much of a move counts.

All `least` are engineering defaults: half of what the rule about the same quantity calls a fault, or less, because the steps are
known to be slower already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from hwtop.model.frame import Moment
from hwtop.model.gpu import Gpu, ThrottleReason
from hwtop.model.rank import Phase
from hwtop.symptoms.gpu_load import NEIGHBOUR_SM_PCT, neighbours
from hwtop.symptoms.pressure import some_pct

Values = Callable[[Moment], Mapping["int | None", float]]
"""By GPU; None = of the machine or the job."""


class Suspect(Struct, frozen=True, kw_only=True):
    """A quantity."""

    name: str
    unit: str = "%"
    values: Values
    sign: int = 1
    """The way that slows: 1 = up, -1 = down, 0 = either: it goes with slow steps, but proves no cause."""
    least: float
    """A smaller step is no cause."""
    least_share: float = 0.0
    """... nor is one that is smaller than this part of the value before."""
    clause: str = ""
    """What happened, with {gpus} and {shown}; empty where it may be a consequence."""
    digits: int = 0


def _machine(value: Callable[[Moment], float | None]) -> Values:
    def values(moment: Moment) -> Mapping[int | None, float]:
        known = value(moment)
        return {} if known is None else {None: known}

    return values


def _each_gpu(value: Callable[[Moment, Gpu], float | None]) -> Values:
    """Of the job's GPUs; where no rank is known to use one, of all."""

    def values(moment: Moment) -> Mapping[int | None, float]:
        own = {index for rank in (moment.job.ranks if moment.job else ()) for index in rank.gpus}
        rows = [gpu for gpu in moment.gpus if gpu.status == "ok" and (not own or gpu.index in own)]
        return {gpu.index: known for gpu in rows if (known := value(moment, gpu)) is not None}

    return values


def _held(*reasons: ThrottleReason) -> Values:
    """In percent of the looks."""
    wanted = set(reasons)
    return _each_gpu(lambda _, gpu: None if gpu.throttle is None else 100.0 * (not wanted.isdisjoint(gpu.throttle)))


def _clock_mhz(_: Moment, gpu: Gpu) -> float | None:
    """An idle GPU lowers its clock by itself: a consequence."""
    return None if "idle" in (gpu.throttle or ()) else gpu.sm_clock_mhz


def _foreign(moment: Moment, gpu: Gpu) -> float:
    busy = [one for one in neighbours(moment, gpu) if one.sm_pct is None or one.sm_pct > NEIGHBOUR_SM_PCT]
    return float(len(busy))


def _others_cpu_pct(moment: Moment) -> float | None:
    """Of the machine's cores, used by neither the job nor hwtop."""
    if moment.cpu is None or moment.cpu.util_pct is None or moment.job is None or not moment.job.processes:
        return None
    own = sum(process.cpu_pct or 0.0 for process in moment.job.processes) + (moment.own_cpu_pct or 0.0)
    return max(0.0, moment.cpu.util_pct - own / moment.cpu.count)


def _queue(moment: Moment) -> float | None:
    """Runnable tasks that have no core, for each core."""
    cpu = moment.cpu
    return None if cpu is None else max(0.0, cpu.running / cpu.count - 1.0)


def _swapped(moment: Moment) -> float | None:
    memory = moment.memory
    if memory is None or memory.swap_in_pages_per_s is None or memory.swap_out_pages_per_s is None:
        return None
    return memory.swap_in_pages_per_s + memory.swap_out_pages_per_s


def _io_pct(moment: Moment) -> float | None:
    """Pressure, or where the kernel tells none the share of waiting cores."""
    told = some_pct("io")(moment)
    return told if told is not None or moment.cpu is None else moment.cpu.iowait_pct


def _in_phase(*phases: Phase) -> Values:
    """Percent of the live ranks that are mostly in one of these phases now: it tells when, not how much of the time."""

    def share(moment: Moment) -> float | None:
        seen = [rank.phase for rank in (moment.job.ranks if moment.job else ()) if rank.is_alive and rank.phase]
        return 100.0 * sum(phase in phases for phase in seen) / len(seen) if seen else None

    return _machine(share)


SUSPECTS = (
    Suspect(
        name="slowdown by heat",
        unit="% of the looks",
        values=_held("sw_thermal", "hw_thermal"),
        least=30.0,
        clause="{gpus} began to throttle (heat)",
    ),
    Suspect(
        name="slowdown by the hardware",
        unit="% of the looks",
        values=_held("hw_slowdown", "hw_power_brake", "hw_current"),
        least=30.0,
        clause="the hardware began to slow {gpus} (power brake or supply)",
    ),
    Suspect(
        name="power limit",
        unit="W",
        values=_each_gpu(lambda _, gpu: gpu.power_limit_w),
        sign=-1,
        least=5.0,
        least_share=0.02,
        clause="the power limit of {gpus} was lowered {shown}",
    ),
    Suspect(
        name="other jobs",
        unit="",
        values=_each_gpu(_foreign),
        least=0.5,
        clause="another job began to use {gpus}",
    ),
    Suspect(
        name="hold by the power limit",
        unit="% of the looks",
        values=_held("sw_power_cap"),
        least=50.0,
        clause="the power limit began to hold {gpus} back",
    ),
    Suspect(
        name="SM clock",
        unit="MHz",
        values=_each_gpu(_clock_mhz),
        sign=-1,
        least=50.0,
        least_share=0.08,
        clause="the clock of {gpus} fell {shown}",
    ),
    Suspect(
        name="swapping",
        unit="pages/s",
        values=_machine(_swapped),
        least=100.0,
        clause="the machine began to swap ({shown})",
    ),
    Suspect(
        name="memory pressure",
        values=_machine(some_pct("memory")),
        least=5.0,
        clause="memory pressure rose {shown}",
    ),
    Suspect(
        name="CPU used by other programs",
        values=_machine(_others_cpu_pct),
        least=15.0,
        clause="other programs' use of the CPU rose {shown}",
    ),
    Suspect(
        name="CPU time stolen by the host",
        values=_machine(lambda moment: moment.cpu.steal_pct if moment.cpu else None),
        least=5.0,
        clause="CPU time stolen by the host rose {shown}",
    ),
    Suspect(
        name="CPU quota used up",
        unit="% of periods",
        values=_machine(lambda moment: moment.cgroup.throttled_periods_pct if moment.cgroup else None),
        least=10.0,
        clause="the job began to meet its CPU limit ({shown})",
    ),
    Suspect(
        name="TCP sent again",
        values=_machine(lambda moment: moment.network.tcp_retransmit_pct if moment.network else None),
        least=0.5,
        digits=1,
        clause="TCP retransmits rose {shown}",
    ),
    Suspect(name="I/O pressure", values=_machine(_io_pct), least=10.0, clause="I/O pressure rose {shown}"),
    Suspect(
        name="run queue",
        unit="waiting threads a core",
        values=_machine(_queue),
        least=0.25,
        digits=1,
        clause="the run queue grew {shown}",
    ),
    Suspect(
        name="ranks mainly in data",
        values=_in_phase("data", "data-main"),
        least=15.0,
        clause="more of the time went into waiting for data",
    ),
    Suspect(
        name="ranks mainly in checkpoints",
        values=_in_phase("checkpoint"),
        least=15.0,
        clause="more of the time went into checkpoints",
    ),
    Suspect(
        name="ranks mainly in compilation",
        values=_in_phase("compile"),
        least=15.0,
        clause="more of the time went into compilation",
    ),
    Suspect(
        name="ranks mainly in logging",
        values=_in_phase("logging"),
        least=15.0,
        clause="more of the time went into logging",
    ),
    Suspect(
        name="CPU of the machine",
        values=_machine(lambda moment: moment.cpu.util_pct if moment.cpu else None),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Suspect(
        name="GPU utilisation",
        values=_each_gpu(lambda _, gpu: gpu.util_pct),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Suspect(
        name="GPU power",
        unit="W",
        values=_each_gpu(lambda _, gpu: gpu.power_w),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Suspect(
        name="GPU temperature",
        unit="°C",
        values=_each_gpu(lambda _, gpu: gpu.temp_c),
        sign=0,
        least=5.0,
        least_share=0.1,
    ),
)
"""Those nearest to a cause first: the first one that moved is named in the title."""
