"""gil-contention, gc-thrash: the time that Python itself takes from the training."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from hwtop.job.code_line import collects_garbage, sleeps
from hwtop.job.frames import is_stdlib_frame, own_frames, place, training_thread, user_frame
from hwtop.job.phase import phase_of
from hwtop.job.rank_set import do, named
from hwtop.model.job import Phase, Rank
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import MIN_SAMPLES
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.statistics import share_at_least

GIL_SHARE = 0.20
"""Of the looks, proven: another thread runs Python while the main thread would. Engineering default."""
GIL_LOOKS = 4
"""Looks at all threads are seldom (one ends each window of samples); 4 of 4 prove 60 %, 3 of 4 prove 35 %."""
GIL_WINDOW_S = 60.0
GC_SHARE = 0.05
"""Of the samples, proven, in explicit collections. One a second that takes 50 ms; Megatron-LM runs it once in many steps
(`--manual-gc-interval`). Engineering default."""
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


def check_gil(history: History) -> Observation | None:
    """Other Python threads of a rank hold the interpreter lock while its main thread waits for it."""
    hit = [
        robbery
        for rank in history.live_ranks
        if rank.state not in ("starting", "stopped") and (robbery := robbery_of(history, rank)) is not None
    ]
    if not hit:
        return None
    worst = max(hit, key=lambda robbery: robbery.robbed / robbery.looks)
    numbers = [robbery.rank.rank for robbery in hit]
    share = worst.robbed / worst.looks
    at = f" ({worst.place})" if worst.place else ""
    return Observation(
        severity="warning",
        confidence=min(0.9, 0.6 + share_at_least(share, worst.looks) / 2),
        title=f"Python threads fight for the interpreter lock on {named(numbers)}: thread {worst.thread}{at} holds it in "
        f"{share:.0%} of the looks while the training thread waits",
        evidence=(
            *(
                f"rank {each.rank.rank}: in {each.robbed} of {each.looks} looks another thread ran Python and the main thread slept"
                for each in hit[:4]
            ),
            *((f"thread {worst.thread} is at: {worst.code}",) if worst.code else ()),
            f"rank {worst.rank.rank} has {worst.python_threads} Python threads; all of it together used "
            + ("an unknown part" if worst.rank.cpu_pct is None else f"{worst.rank.cpu_pct:.0f} %")
            + " of a core",
        ),
        next_steps=(
            f"py-spy record --gil --nonblocking -d 5 -f raw -o /dev/stdout --pid {worst.rank.pid}   # who holds the lock, by line",
            f"Move what thread {worst.thread} does to a process of its own, or into C code that releases the lock",
            "Until then: time.sleep in its loop, larger batches of work, or a lower rate",
        ),
        ranks=tuple(numbers),
    )


def robbery_of(history: History, rank: Rank) -> Robbery | None:
    """None where it is not proven."""
    dumps = _dumps(history, rank)
    if len(dumps) < GIL_LOOKS:
        return None
    found = [owner for dump in dumps if (owner := _robber(dump, has_device=bool(rank.gpus))) is not None]
    if share_at_least(len(found) / len(dumps), len(dumps)) < GIL_SHARE:
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


def _dumps(history: History, rank: Rank) -> list[StackDump]:
    """Each look at all threads of this process once."""
    found: dict[float, StackDump] = {}
    for moment in history.over(GIL_WINDOW_S):
        for seen in moment.job.ranks if moment.job is not None else ():
            if seen.pid == rank.pid and seen.stack is not None:
                found[seen.stack.at_s] = seen.stack
    return list(found.values())


def _robber(dump: StackDump, *, has_device: bool) -> ThreadStack | None:
    """The thread that runs Python while the training thread of the same process sleeps but is at no wait of its own."""
    owner = next((thread for thread in dump.threads if thread.owns_gil), None)
    main = training_thread(dump)
    if owner is None or main is None or owner is main or main.is_active or not main.frames:
        return None
    leaf = main.frames[0]
    if sleeps(leaf.code) or (is_stdlib_frame(leaf) and leaf.short_filename.startswith(_WAITING_MODULES)):
        return None
    return owner if phase_of(main, has_device=has_device) in _NEEDS_GIL else None


def check_gc(history: History) -> Observation | None:
    """Explicit garbage collections take a share of the time. Those that Python starts itself leave no trace on the stack."""
    hit = [(rank, share) for rank in history.live_ranks if (share := _collecting(rank)) is not None]
    if not hit:
        return None
    rank, share = max(hit, key=lambda entry: entry[1])
    numbers = [each.rank for each, _ in hit]
    line = next(line for line in rank.hot_lines if collects_garbage(line.code))
    return Observation(
        severity="warning",
        confidence=min(0.95, 0.7 + share_at_least(share, rank.samples) / 2),
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


def _collecting(rank: Rank) -> float | None:
    share = sum(line.share for line in rank.hot_lines if collects_garbage(line.code))
    if rank.samples < MIN_SAMPLES or rank.state == "starting" or share_at_least(share, rank.samples) < GC_SHARE:
        return None
    return share


def _at(file: str, line: int) -> str:
    return f"{file.rsplit('/', 1)[-1]}:{line}"


RULES = (
    Rule(
        symptom="gil-contention",
        category="performance",
        threshold=(
            f"in surely over {GIL_SHARE:.0%} of the looks of {GIL_WINDOW_S:.0f} s another thread owns the interpreter lock while the "
            "training thread sleeps where it would run Python"
        ),
        raise_s=3.0,
        clear_s=20.0,
        check=check_gil,
    ),
    Rule(
        symptom="gc-thrash",
        category="performance",
        threshold=f"explicit gc.collect() in surely over {GC_SHARE:.0%} of the samples",
        raise_s=3.0,
        clear_s=20.0,
        check=check_gc,
    ),
)
