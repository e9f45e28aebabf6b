"""gil-contention, gc-thrash: the time that Python itself takes from the training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.rank_set import do, named
from hwtop.job.stacks.code_line import collects_garbage, sleeps
from hwtop.job.stacks.frames import is_stdlib_frame, own_frames, place, training_thread, user_frame
from hwtop.job.stacks.phase import phase_of
from hwtop.model.rank import Phase, Rank
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import MIN_SAMPLES, WINDOW_S
from hwtop.symptoms.rule import Count, Limits, Observation, Rule, Share, Window
from hwtop.symptoms.statistics import proven_confidence, share_at_least

GIL_LOOKS = 4
"""Looks at all threads are seldom (one ends each window of samples); 4 of 4 prove 60 %, 3 of 4 prove 35 %."""
STARVED_PART = 0.7
STARVED_ASLEEP = 0.3
ONE_CORE_PCT = 125.0
"""A smaller proven share (`starved_share`) will do where the main thread uses less than this part of the time that it wants to run, sleeps for
a lock (futex) in so many of the ticks and hardly for anything else, and the process as a whole uses no more than one core:
threads that share one lock share one core. Engineering defaults."""
_NEEDS_GIL: frozenset[Phase] = frozenset(
    {"forward", "optimizer", "data-main", "logging", "eval", "checkpoint", "other"}
)
"""Phases in which a main thread that sleeps wants to run Python; in the others it waits for something else."""
_WAITING_MODULES = (
    "threading.py",
    "queue.py",
    "selectors.py",
    "socket.py",
    "ssl.py",
    "subprocess.py",
    "multiprocessing/",
    "concurrent/",
    "asyncio/",
)


class GilLimits(Limits, frozen=True, kw_only=True):
    """Of gil-contention. Engineering defaults."""

    held_share: Share = 0.20
    """Of the looks, proven: another thread runs Python while the main thread would."""
    starved_share: Share = 0.10
    """... where the main thread surely gets less CPU than it wants."""
    window_s: Window = 60.0


GIL = GilLimits()


class GcLimits(Limits, frozen=True, kw_only=True):
    """Of gc-thrash. Engineering defaults."""

    gc_share: Share = 0.05
    """Of the samples, proven, in explicit collections. One a second that takes 50 ms; Megatron-LM runs it once in many steps
    (`--manual-gc-interval`)."""
    visits: Count = 3
    """Seen collecting so many times apart: one collection in hundreds of steps may take half a second."""


GC = GcLimits()
GC_WINDOW_S = 30.0
_MOSTLY = 0.5


class Robbery(Struct, frozen=True, kw_only=True):
    """How often other threads ran Python while a rank's main thread waited to."""

    rank: Rank
    looks: int
    robbed: int
    thread: str
    """The one that did it most."""
    place: str | None
    """Its user line."""
    code: str | None
    python_threads: int


def check_gil(history: History, limits: GilLimits = GIL) -> Observation | None:
    """Other Python threads of a rank hold the interpreter lock while its main thread waits for it."""
    past = _past(history, limits.window_s)
    hit = [
        robbery
        for rank in history.live_ranks
        if rank.state not in ("starting", "stopped")
        and (robbery := robbery_of(history, rank, past.get(rank.pid, []), limits)) is not None
    ]
    if not hit:
        return None
    worst = max(hit, key=lambda robbery: robbery.robbed / robbery.looks)
    numbers = [robbery.rank.rank for robbery in hit]
    share = worst.robbed / worst.looks
    at = f" ({worst.place})" if worst.place else ""
    return Observation(
        severity="warning",
        confidence=proven_confidence(share, worst.looks, base=0.6, most=0.9),
        title=f"Python threads fight for the interpreter lock on {named(numbers)}: thread {worst.thread}{at} holds it in "
        f"{share:.0%} of the looks while the training thread waits",
        evidence=(
            *(
                f"rank {each.rank.rank}: in {each.robbed} of {each.looks} looks another thread ran Python while the main thread wanted to"
                for each in hit[:4]
            ),
            *((f"thread {worst.thread} is at: {worst.code}",) if worst.code else ()),
            f"rank {worst.rank.rank} has {worst.python_threads} Python threads{_cores(worst.rank)}",
        ),
        next_steps=(
            f"py-spy record --gil --nonblocking -d 5 -f raw -o /dev/stdout --pid {worst.rank.pid}   # who holds the lock, by line",
            f"Move what thread {worst.thread} does to a process of its own, or into C code that releases the lock",
            "Until then: time.sleep in its loop, larger batches of work, or a lower rate",
        ),
        ranks=tuple(numbers),
    )


def _cores(rank: Rank) -> str:
    if rank.cpu_pct is None or rank.main_thread_cpu_pct is None:
        return ""
    return f"; they use {rank.cpu_pct:.0f} % of a core together, the main thread {rank.main_thread_cpu_pct:.0f} %"


def robbery_of(
    history: History, rank: Rank, past: Sequence[tuple[float, Rank]], limits: GilLimits = GIL
) -> Robbery | None:
    """None where it is not proven. `past`: (time, this rank then) over the window."""
    dumps = list({seen.stack.at_s: seen.stack for _, seen in past if seen.stack is not None}.values())
    if len(dumps) < GIL_LOOKS or sum(_other_owner(dump) is not None for dump in dumps) < 2:
        return None
    wanting = [dump for dump in dumps if _wants_to_run(dump, has_device=bool(rank.gpus))]
    since_s = history.now.at_s - WINDOW_S
    newest = [seen for at_s, seen in past if at_s >= since_s]
    is_starved = history.covers(WINDOW_S) and _is_starved(newest, len(wanting) / len(dumps))
    found = [owner for dump in wanting if (owner := _robber(dump, may_be_active=is_starved)) is not None]
    needed = limits.starved_share if is_starved else limits.held_share
    if len(found) < 2 or share_at_least(len(found) / len(dumps), len(dumps)) < needed:
        return None
    places = Counter((thread.name, user_frame(own_frames(thread))) for thread in found)
    (name, frame), _ = places.most_common(1)[0]
    return Robbery(
        rank=rank,
        looks=len(dumps),
        robbed=len(found),
        thread=name or "without a name",
        place=None if frame is None else place(frame),
        code=None if frame is None else frame.code,
        python_threads=len(dumps[-1].threads),
    )


def _is_starved(ticks: Sequence[Rank], wants: float) -> bool:
    """The main thread gets clearly less CPU than it wants, and that because it sleeps for a lock."""
    every = [seen.cpu_pct for seen in ticks if seen.cpu_pct is not None]
    main = [seen.main_thread_cpu_pct for seen in ticks if seen.main_thread_cpu_pct is not None]
    if not every or not main or fmean(every) > ONE_CORE_PCT or fmean(main) > 100.0 * STARVED_PART * wants:
        return False
    asleep = [seen for seen in ticks if seen.os_state == "S"]
    for_locks = sum((seen.wchan or "").startswith("futex") for seen in asleep)
    return for_locks >= STARVED_ASLEEP * len(ticks) and 2 * for_locks > len(asleep)


def _past(history: History, window_s: float) -> dict[int, list[tuple[float, Rank]]]:
    """PID -> (time, rank) of the window, oldest first; in one pass, for there may be hundreds of ranks."""
    found: dict[int, list[tuple[float, Rank]]] = {}
    for moment in history.over(window_s):
        for seen in moment.job.ranks if moment.job is not None else ():
            found.setdefault(seen.pid, []).append((moment.at_s, seen))
    return found


def _wants_to_run(dump: StackDump, *, has_device: bool) -> bool:
    """The training thread is at no wait of its own: it runs Python, or would."""
    main = training_thread(dump)
    if main is None or not main.frames:
        return False
    leaf = main.frames[0]
    if sleeps(leaf.code) or (is_stdlib_frame(leaf) and leaf.short_filename.startswith(_WAITING_MODULES)):
        return False
    return phase_of(main, has_device=has_device) in _NEEDS_GIL


def _robber(dump: StackDump, *, may_be_active: bool) -> ThreadStack | None:
    """Another thread that runs Python meanwhile. A main thread that is on a CPU may compute in C, without the lock."""
    main = training_thread(dump)
    return _other_owner(dump) if main is not None and (may_be_active or not main.is_active) else None


def _other_owner(dump: StackDump) -> ThreadStack | None:
    owner = next((thread for thread in dump.threads if thread.owns_gil), None)
    return None if owner is None or owner is training_thread(dump) else owner


def check_gc(history: History, limits: GcLimits = GC) -> Observation | None:
    """Explicit garbage collections take a share of the time. Those that Python starts itself leave no trace on the stack."""
    hit = [(rank, share) for rank in history.live_ranks if (share := _collecting(history, rank, limits)) is not None]
    if not hit:
        return None
    rank, share = max(hit, key=lambda entry: entry[1])
    numbers = [each.rank for each, _ in hit]
    line = next(line for line in rank.hot_lines if collects_garbage(line.code))
    return Observation(
        severity="warning",
        confidence=proven_confidence(share, rank.samples, base=0.7, most=0.95),
        title=f"{named(numbers).capitalize()} {do(numbers, 'spend')} {share:.0%} of the time in garbage collection: "
        f"`{line.code}` ({_at(line.file, line.line)})",
        evidence=tuple(
            f"rank {each.rank}: {part:.0%} of {each.samples} stack samples are at a line that calls gc.collect()"
            for each, part in hit[:4]
        ),
        next_steps=(
            f"Call it every few hundred steps, not at {_at(line.file, line.line)} each time",
            "gc.freeze() after start-up, then gc.disable() and gc.collect() at checkpoints (Megatron-LM: --manual-gc)",
            "Where memory grows without it: break the reference cycle (closures over tensors, exceptions that are kept)",
        ),
        ranks=tuple(numbers),
    )


def _collecting(history: History, rank: Rank, limits: GcLimits) -> float | None:
    lines = [line for line in rank.hot_lines if collects_garbage(line.code)]
    share = sum(line.share for line in lines)
    if rank.samples < MIN_SAMPLES or rank.state == "starting":
        return None
    if share_at_least(share, rank.samples) < limits.gc_share:
        return None
    is_often = sum(line.visits for line in lines) >= limits.visits or _steps_at_one_line(history, rank, share, limits)
    return share if is_often else None


def _steps_at_one_line(history: History, rank: Rank, share: float, limits: GcLimits) -> bool:
    """It is hardly seen anywhere else, and yet takes steps: one look at the line and the next are of different calls."""
    if share_at_least(share, rank.samples) < _MOSTLY:
        return False
    steps = {
        seen.progress.step
        for moment in history.over(GC_WINDOW_S)
        if moment.job is not None
        for seen in moment.job.ranks
        if seen.pid == rank.pid and seen.progress is not None
    }
    return len(steps) > limits.visits


def _at(file: str, line: int) -> str:
    return f"{file.rsplit('/', 1)[-1]}:{line}"


RULES = (
    Rule(
        symptom="gil-contention",
        category="performance",
        threshold=lambda limits: (
            f"in surely over {100 * limits.held_share:.3g}% of the looks of {limits.window_s:g} s another thread owns the interpreter lock while the "
            f"training thread sleeps where it would run Python ({100 * limits.starved_share:.3g}% where it surely gets less CPU than it wants)"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_gil,
        limits=GIL,
    ),
    Rule(
        symptom="gc-thrash",
        category="performance",
        threshold=lambda limits: (
            f"explicit gc.collect() in surely over {100 * limits.gc_share:.3g}% of the samples, {limits.visits} times or more"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_gc,
        limits=GC,
    ),
)
