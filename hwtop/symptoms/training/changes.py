"""Suspects: what may slow a training down when it moves, read from a Moment, and how much of a move counts.

All `least` are engineering defaults: half of what the rule about the same quantity calls a fault, or less, because the steps are
known to be slower already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, ThrottleReason
from hwtop.model.rank_stack import Phase
from hwtop.symptoms.gpu.load import NEIGHBOUR_SM_PCT, neighbours
from hwtop.symptoms.host.network import RETRANSMITS
from hwtop.symptoms.host.pressure import some_pct

Values = Callable[[DerivedState], Mapping["int | None", float]]
"""By GPU; None = of the machine or the job."""


class Change(Struct, frozen=True, kw_only=True):
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


def _machine(value: Callable[[DerivedState], float | None]) -> Values:
    def values(derived: DerivedState) -> Mapping[int | None, float]:
        known = value(derived)
        return {} if known is None else {None: known}

    return values


def _each_gpu(value: Callable[[DerivedState, Gpu], float | None]) -> Values:
    """Of the job's GPUs; where no rank is known to use one, of all."""

    def values(derived: DerivedState) -> Mapping[int | None, float]:
        own = {index for rank in (derived.job.ranks if derived.job else ()) for index in rank.gpus}
        rows = [gpu for gpu in derived.gpus if gpu.status == "ok" and (not own or gpu.index in own)]
        return {gpu.index: known for gpu in rows if (known := value(derived, gpu)) is not None}

    return values


def _held(*reasons: ThrottleReason) -> Values:
    """In percent of the looks."""
    wanted = set(reasons)
    return _each_gpu(lambda _, gpu: None if gpu.throttle is None else 100.0 * (not wanted.isdisjoint(gpu.throttle)))


def _clock_mhz(_: DerivedState, gpu: Gpu) -> float | None:
    """An idle GPU lowers its clock by itself: a consequence."""
    return None if "idle" in (gpu.throttle or ()) else gpu.sm_clock_mhz


def _foreign(derived: DerivedState, gpu: Gpu) -> float:
    busy = [one for one in neighbours(derived, gpu) if one.sm_pct is None or one.sm_pct > NEIGHBOUR_SM_PCT]
    return float(len(busy))


def _others_cpu_pct(derived: DerivedState) -> float | None:
    """Of the machine's cores, used by neither the job nor hwtop."""
    if derived.cpu is None or derived.cpu.util_pct is None or derived.job is None or not derived.job.processes:
        return None
    own = sum(process.cpu_pct or 0.0 for process in derived.job.processes) + (derived.own_cpu_pct or 0.0)
    return max(0.0, derived.cpu.util_pct - own / derived.cpu.count)


def _queue(derived: DerivedState) -> float | None:
    """Runnable tasks that have no core, for each core."""
    cpu = derived.cpu
    return None if cpu is None or cpu.running is None else max(0.0, cpu.running / cpu.count - 1.0)


def _swapped(derived: DerivedState) -> float | None:
    memory = derived.memory
    if memory is None or memory.swap_in_pages_per_s is None or memory.swap_out_pages_per_s is None:
        return None
    return memory.swap_in_pages_per_s + memory.swap_out_pages_per_s


def _io_pct(derived: DerivedState) -> float | None:
    """Pressure, or where the kernel tells none the share of waiting cores."""
    reported = some_pct("io")(derived)
    return reported if reported is not None or derived.cpu is None else derived.cpu.iowait_pct


def _in_phase(*phases: Phase) -> Values:
    """Percent of the live ranks that are mostly in one of these phases now: it tells when, not how much of the time."""

    def share(derived: DerivedState) -> float | None:
        seen = [
            rank.stack.phase
            for rank in (derived.job.ranks if derived.job else ())
            if rank.is_alive and rank.stack.phase
        ]
        return 100.0 * sum(phase in phases for phase in seen) / len(seen) if seen else None

    return _machine(share)


CHANGES = (
    Change(
        name="slowdown by heat",
        unit="% of the samples",
        values=_held("sw_thermal", "hw_thermal"),
        least=30.0,
        clause="{gpus} began to throttle (heat)",
    ),
    Change(
        name="slowdown by the hardware",
        unit="% of the samples",
        values=_held("hw_slowdown", "hw_power_brake", "hw_current"),
        least=30.0,
        clause="the hardware began to slow {gpus} (power brake or supply)",
    ),
    Change(
        name="power limit",
        unit="W",
        values=_each_gpu(lambda _, gpu: gpu.power_limit_w),
        sign=-1,
        least=5.0,
        least_share=0.02,
        clause="the power limit of {gpus} was lowered {shown}",
    ),
    Change(
        name="other jobs",
        unit="",
        values=_each_gpu(_foreign),
        least=0.5,
        clause="another job began to use {gpus}",
    ),
    Change(
        name="hold by the power limit",
        unit="% of the samples",
        values=_held("sw_power_cap"),
        least=50.0,
        clause="the power limit began to hold {gpus} back",
    ),
    Change(
        name="SM clock",
        unit="MHz",
        values=_each_gpu(_clock_mhz),
        sign=-1,
        least=50.0,
        least_share=0.08,
        clause="the clock of {gpus} fell {shown}",
    ),
    Change(
        name="swapping",
        unit="pages/s",
        values=_machine(_swapped),
        least=100.0,
        clause="the machine began to swap ({shown})",
    ),
    Change(
        name="memory pressure",
        values=_machine(some_pct("memory")),
        least=5.0,
        clause="memory pressure rose {shown}",
    ),
    Change(
        name="CPU used by other programs",
        values=_machine(_others_cpu_pct),
        least=15.0,
        clause="other programs' use of the CPU rose {shown}",
    ),
    Change(
        name="CPU time stolen by the host",
        values=_machine(lambda derived: derived.cpu.steal_pct if derived.cpu else None),
        least=5.0,
        clause="CPU time stolen by the host rose {shown}",
    ),
    Change(
        name="CPU quota used up",
        unit="% of periods",
        values=_machine(lambda derived: derived.cgroup.throttled_periods_pct if derived.cgroup else None),
        least=10.0,
        clause="the job began to reach its CPU limit ({shown})",
    ),
    Change(
        name="TCP retransmits",
        values=_machine(lambda derived: derived.network.tcp_retransmit_pct if derived.network else None),
        least=RETRANSMITS.warning_pct / 2,
        digits=1,
        clause="TCP retransmits rose {shown}",
    ),
    Change(name="I/O pressure", values=_machine(_io_pct), least=10.0, clause="I/O pressure rose {shown}"),
    Change(
        name="run queue",
        unit="waiting threads a core",
        values=_machine(_queue),
        least=0.25,
        digits=1,
        clause="the run queue grew {shown}",
    ),
    Change(
        name="ranks mainly in data",
        values=_in_phase("data", "data-main"),
        least=15.0,
        clause="more of the time went into waiting for data",
    ),
    Change(
        name="ranks mainly in checkpoints",
        values=_in_phase("checkpoint"),
        least=15.0,
        clause="more of the time went into checkpoints",
    ),
    Change(
        name="ranks mainly in compilation",
        values=_in_phase("compile"),
        least=15.0,
        clause="more of the time went into compilation",
    ),
    Change(
        name="ranks mainly in logging",
        values=_in_phase("logging"),
        least=15.0,
        clause="more of the time went into logging",
    ),
    Change(
        name="CPU of the machine",
        values=_machine(lambda derived: derived.cpu.util_pct if derived.cpu else None),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Change(
        name="GPU utilisation",
        values=_each_gpu(lambda _, gpu: gpu.util_pct),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Change(
        name="GPU power",
        unit="W",
        values=_each_gpu(lambda _, gpu: gpu.power_w),
        sign=0,
        least=5.0,
        least_share=0.15,
    ),
    Change(
        name="GPU temperature",
        unit="°C",
        values=_each_gpu(lambda _, gpu: gpu.temp_c),
        sign=0,
        least=5.0,
        least_share=0.1,
    ),
)
"""Those nearest to a cause first: the first one that moved is named in the title."""
