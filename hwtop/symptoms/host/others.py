"""machine-shared: programs outside the job use what it needs."""

from __future__ import annotations

from statistics import fmean

from hwtop.job.hang.rank_state import MIN_SAMPLES
from hwtop.job.size import GIB, size
from hwtop.model.evidence import NEARLY_ALL
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.host.capacity import WINDOW_S, Outside
from hwtop.symptoms.host.cpu import CORES, most_runnable, runnable
from hwtop.symptoms.result import Result
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN, percent

SHARED = limits_of("machine-shared")
_GPU_BYTES = GIB
"""On a GPU of the job: a process of others with less memory, and without work there, is the desktop or a monitor. Engineering
default."""
_GPU_SM_PCT = 10.0
"""Of the time with a kernel on the GPU: as much of others slows the job. Engineering default."""
_READY_S = 20.0
"""Over which a process must be ready to run. Engineering default."""
_PART_PCT = 60.0
"""Of a core: a process that always wants one, and gets less, waits for others. Engineering default."""


def check_shared(history: History, limits: Limits = SHARED) -> Observation | None:
    """Others leave hardly a core, and threads of the job wait for one."""
    taken = history.once(capacity.taken)
    if taken is None or not history.live_ranks or _is_crowded_by_itself(history):
        return None
    delays = _delays(history)
    waiting = tuple(number for number, delay in sorted(delays.items()) if delay >= limits.delay_pct)
    starved = _starved(history, limits)
    if not waiting and not starved:
        return None
    return observed(
        "machine-shared",
        confidence=0.9,
        facts={
            "cores": taken.cores,
            "of": taken.of,
            "who": next(iter(taken.who), None),
            "more": len(taken.who) - 1 if len(taken.who) > 1 else None,
        },
        evidence=(
            in_words(taken),
            *((f"the busiest of them: {', '.join(taken.who)}",) if len(taken.who) > 1 else ()),
            *(
                f"rank {number}: its main thread was ready to run and had no core {delays[number]:.0f} % of the time"
                for number in waiting[:SHOWN]
            ),
            *starved[:SHOWN],
        ),
    )


def in_words(taken: Outside) -> str:
    """As evidence."""
    return f"processes outside the job use {taken.cores:.1f} of the {taken.of:g} cores that its ranks may use (mean over {WINDOW_S:.0f} s)"


def may_slow(history: History) -> tuple[str, ...]:
    """Evidence that a change to less than twice the time may be due to programs outside the job: they leave it hardly a core. Two that share
    the units of one core slow each other, too, and neither waits for it."""
    taken = history.once(capacity.taken)
    return () if taken is None else (in_words(taken),)


def _is_crowded_by_itself(history: History) -> bool:
    """The job has more threads that want to run than it would have cores without the others: these are not what it lacks."""
    threads = history.median(WINDOW_S, runnable)
    return threads is not None and threads >= most_runnable(CORES, capacity.cores(history.now))


def _starved(history: History, limits: Limits) -> list[str]:
    """Processes of the job that always want to run and get a part of a core: single samples of a job that wakes often prove nothing."""
    states: dict[int, list[bool]] = {}
    used: dict[int, list[float]] = {}
    for derived in history.over(_READY_S) if history.covers(_READY_S) else ():
        for each in derived.job.processes if derived.job is not None else ():
            states.setdefault(each.pid, []).append(each.state == "R")
            if each.cpu_pct is not None:
                used.setdefault(each.pid, []).append(each.cpu_pct)
    found = []
    for each in history.job.processes if history.job is not None else ():
        seen, got = states.get(each.pid, []), used.get(each.pid, [])
        if len(seen) >= MIN_SAMPLES and got and fmean(seen) >= limits.ready_share and fmean(got) <= _PART_PCT:
            found.append(
                f"PID {each.pid} ({each.role}): ready to run in {percent(fmean(seen))} of {len(seen)} samples, got {fmean(got):.0f} % of a core"
            )
    return found


def _delays(history: History) -> dict[int, float]:
    """Rank -> share of the time, in percent, in which its main thread was ready to run and had no core."""
    known: dict[int, list[float]] = {}
    for derived in history.over(WINDOW_S):
        for rank in derived.job.ranks if derived.job is not None else ():
            if rank.is_alive and rank.process.run_delay_pct is not None:
                known.setdefault(rank.rank, []).append(rank.process.run_delay_pct)
    return {number: fmean(values) for number, values in known.items()}


def used_by_others(history: History) -> Result:
    """How much of cores, memory and GPUs processes outside the job use."""
    outside = history.once(capacity.outside)
    if outside is None:
        return Result("unknown", "CPU use is not read, or not for long enough")
    who = f" ({', '.join(outside.who)})" if outside.who else ""
    texts = [f"{outside.cores:.1f} of {outside.of:g} cores{who}"]
    memory, on_gpus = _memory(history.now), _on_gpus(history.now)
    texts += [words for words in (memory, on_gpus) if words]
    if memory is not None or on_gpus is not None:
        return Result("yes", ", ".join(texts))
    if outside.is_scarce:
        return Result("unknown", f"{', '.join(texts)}; nothing proves that the job waits for them")
    return Result("no", ", ".join(texts))


def _memory(derived: DerivedState) -> str | None:
    """Who of the others holds most, where hardly any is left; None where there is room or the job holds it."""
    memory = derived.memory
    if memory is None or memory.used_bytes < NEARLY_ALL * memory.total_bytes:
        return None
    held = sorted(derived.programs, key=lambda each: -(each.rss_bytes or 0))
    own = sum(each.rss_bytes or 0 for each in derived.job.processes) if derived.job else 0
    if not held or sum(each.rss_bytes or 0 for each in held) <= own:
        return None
    first = held[0]
    return f"most memory: {size(first.rss_bytes or 0)} by {first.name} of {first.user} (PID {first.pid})"


def _on_gpus(derived: DerivedState) -> str | None:
    """Processes that the job does not know, on its GPUs."""
    job = derived.job
    if job is None:
        return None
    own = {each.pid for each in job.processes}
    used = {index for rank in job.ranks if rank.is_alive for index in rank.gpus}
    found = [
        (gpu, each)
        for gpu in derived.gpus
        if gpu.index in used and any(each.pid in own for each in gpu.processes or ())
        for each in gpu.processes or ()
        if each.pid not in own and _matters(each)
    ]
    if not found:
        return None
    return f"{named_gpus({gpu.index for gpu, _ in found})}: {', '.join(_words(*each) for each in found[:SHOWN])}"


def _matters(process: GpuProcess) -> bool:
    is_alive = process.state not in ("X", "Z")  # memory of the dead has a symptom of its own
    return is_alive and ((process.mem_bytes or 0) >= _GPU_BYTES or (process.sm_pct or 0.0) >= _GPU_SM_PCT)


def _words(gpu: Gpu, process: GpuProcess) -> str:
    held = f" holds {size(process.mem_bytes)}" if process.mem_bytes is not None else ""
    return f"PID {process.pid}{held} on GPU {gpu.index}"
