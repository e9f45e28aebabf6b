"""gil-contention, gc-thrash: the time that Python itself takes from the training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from hwtop.job.hang.rank_state import MIN_SAMPLES
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.code_line import collects_garbage, sleeps
from hwtop.job.stacks.frames import is_stdlib_frame, own_frames, place, training_thread, user_frame
from hwtop.model.evidence import MOSTLY
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.symptoms.history import History
from hwtop.symptoms.host.capacity import WINDOW_S
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import proven_confidence, share_at_least
from hwtop.symptoms.text import SHOWN, percent

GIL_LOOKS = 4
"""Looks at all threads are seldom (one ends each window of samples); 4 of 4 prove 60 %, 3 of 4 prove 35 % (Wilson).
Engineering default."""
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


GIL = limits_of("gil-contention")


GC = limits_of("gc-thrash")
GC_WINDOW_S = 30.0
"""Time in which the steps of a rank at one line are counted. Engineering default."""


class GilContention(Struct, frozen=True, kw_only=True):
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


def check_gil(history: History, limits: Limits = GIL) -> Observation | None:
    """Other Python threads of a rank hold the interpreter lock while its main thread waits for it."""
    past = _past(history, limits.window_s)
    hit = [
        contention
        for rank in history.live_ranks
        if rank.state not in ("starting", "stopped")
        and (contention := robbery_of(history, rank, past.get(rank.pid, []), limits)) is not None
    ]
    if not hit:
        return None
    worst = max(hit, key=lambda contention: contention.robbed / contention.looks)
    numbers = [contention.rank.rank for contention in hit]
    share = worst.robbed / worst.looks
    return observed(
        "gil-contention",
        confidence=proven_confidence(share, worst.looks, base=0.6),
        facts={
            "ranks": named(numbers),
            "thread": worst.thread,
            "place": worst.place or None,
            "share": share,
            "pid": worst.rank.pid,
        },
        evidence=(
            *(
                f"rank {each.rank.rank}: in {each.robbed} of {each.looks} samples another thread ran Python while the main thread was ready to"
                for each in hit[:SHOWN]
            ),
            *((f"thread {worst.thread} is at: {worst.code}",) if worst.code else ()),
            f"rank {worst.rank.rank} has {worst.python_threads} Python threads{_cores(worst.rank)}",
        ),
        ranks=tuple(numbers),
    )


def _cores(rank: Rank) -> str:
    if rank.process.cpu_pct is None or rank.process.main_thread_cpu_pct is None:
        return ""
    return f"; they use {rank.process.cpu_pct:.0f} % of a core together, the main thread {rank.process.main_thread_cpu_pct:.0f} %"


def robbery_of(
    history: History, rank: Rank, past: Sequence[tuple[float, Rank]], limits: Limits = GIL
) -> GilContention | None:
    """None where it is not proven. `past`: (time, this rank then) over the window."""
    dumps = list({seen.stack.dump.at_s: seen.stack.dump for _, seen in past if seen.stack.dump is not None}.values())
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
    return GilContention(
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
    every = [seen.process.cpu_pct for seen in ticks if seen.process.cpu_pct is not None]
    main = [seen.process.main_thread_cpu_pct for seen in ticks if seen.process.main_thread_cpu_pct is not None]
    if not every or not main or fmean(every) > ONE_CORE_PCT or fmean(main) > 100.0 * STARVED_PART * wants:
        return False
    asleep = [seen for seen in ticks if seen.process.os_state == "S"]
    for_locks = sum((seen.process.wchan or "").startswith("futex") for seen in asleep)
    return for_locks >= STARVED_ASLEEP * len(ticks) and 2 * for_locks > len(asleep)


def _past(history: History, window_s: float) -> dict[int, list[tuple[float, Rank]]]:
    """PID -> (time, rank) of the window, oldest first; in one pass, for there may be hundreds of ranks."""
    found: dict[int, list[tuple[float, Rank]]] = {}
    for derived in history.over(window_s):
        for seen in derived.job.ranks if derived.job is not None else ():
            found.setdefault(seen.pid, []).append((derived.at_s, seen))
    return found


def _wants_to_run(dump: StackDump, *, has_device: bool) -> bool:
    """The training thread is at no wait of its own: it runs Python, or would."""
    main = training_thread(dump)
    if main is None or not main.frames:
        return False
    leaf = main.frames[0]
    if sleeps(leaf.code) or (is_stdlib_frame(leaf) and leaf.short_filename.startswith(_WAITING_MODULES)):
        return False
    return classified(main.frames, has_device).phase in _NEEDS_GIL


def _robber(dump: StackDump, *, may_be_active: bool) -> ThreadStack | None:
    """Another thread that runs Python meanwhile. A main thread that is on a CPU may compute in C, without the lock."""
    main = training_thread(dump)
    return _other_owner(dump) if main is not None and (may_be_active or not main.is_active) else None


def _other_owner(dump: StackDump) -> ThreadStack | None:
    owner = next((thread for thread in dump.threads if thread.owns_gil), None)
    return None if owner is None or owner is training_thread(dump) else owner


def check_gc(history: History, limits: Limits = GC) -> Observation | None:
    """Explicit garbage collections take a share of the time. Those that Python starts itself leave no trace on the stack."""
    hit = [(rank, share) for rank in history.live_ranks if (share := _collecting(history, rank, limits)) is not None]
    if not hit:
        return None
    rank, share = max(hit, key=lambda entry: entry[1])
    numbers = [each.rank for each, _ in hit]
    line = next(line for line in rank.stack.hot_lines if collects_garbage(line.code))
    return observed(
        "gc-thrash",
        confidence=proven_confidence(share, rank.stack.samples, base=0.7),
        facts={
            "ranks": named(numbers).capitalize(),
            "spend": do(numbers, "spend"),
            "share": share,
            "code": line.code,
            "place": _at(line.file, line.line),
        },
        evidence=tuple(
            f"rank {each.rank}: {percent(part)} of {each.stack.samples} stack samples are at a line that calls gc.collect()"
            for each, part in hit[:SHOWN]
        ),
        ranks=tuple(numbers),
    )


def _collecting(history: History, rank: Rank, limits: Limits) -> float | None:
    lines = [line for line in rank.stack.hot_lines if collects_garbage(line.code)]
    share = sum(line.share for line in lines)
    if rank.stack.samples < MIN_SAMPLES or rank.state == "starting":
        return None
    if share_at_least(share, rank.stack.samples) < limits.gc_share:
        return None
    is_often = sum(line.visits for line in lines) >= limits.visits or _steps_at_one_line(history, rank, share, limits)
    return share if is_often else None


def _steps_at_one_line(history: History, rank: Rank, share: float, limits: Limits) -> bool:
    """It is hardly seen anywhere else, and yet takes steps: one look at the line and the next are of different calls."""
    if share_at_least(share, rank.stack.samples) < MOSTLY:
        return False
    steps = {
        seen.progress.newest.step
        for derived in history.over(GC_WINDOW_S)
        if derived.job is not None
        for seen in derived.job.ranks
        if seen.pid == rank.pid and seen.progress.newest is not None
    }
    return len(steps) > limits.visits


def _at(file: str, line: int) -> str:
    return f"{file.rsplit('/', 1)[-1]}:{line}"
