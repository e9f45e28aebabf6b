"""What is known of a rank's data loading, and what that loading itself waits for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, mode
from typing import Literal

from hwtop.job.hang.rank_state import share_of
from hwtop.job.stacks.code_line import pauses
from hwtop.job.stacks.frames import called_by_user, own_frames, short_name, training_thread, user_frame
from hwtop.job.stacks.io_kind import reads
from hwtop.job.stacks.phase import is_named_for_data, takes_from_loader
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.job.stacks.series import WINDOW_S as STACKS_S
from hwtop.model.evidence import MOSTLY, REPEATED
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import HotSpot
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackDump, ThreadStack
from hwtop.symptoms.history import History
from hwtop.symptoms.host.capacity import WINDOW_S
from hwtop.symptoms.input.feeder import WORKER_BUSY_PCT, busy_feeder
from hwtop.symptoms.input.waits import BYTES, main_wait, state_share, wait_share
from hwtop.symptoms.rule import limits_of

DATA = limits_of("input-bound-cpu")
Cause = Literal["cpu", "workers", "io"]
_READ_WORDS = frozenset(
    [
        "read",
        "readinto",
        "readline",
        "readlines",
        "recv",
        "pread",
        "mmap",
        "download",
        "urlopen",
        "urlretrieve",
        "fetch",
        "request",
        "sendfile",
    ]
)
"""Words in the name of a function that fetches bytes from a disk, a pipe or the network."""
_ASYNCIO = ("asyncio/base_events.py", "_run_once")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def at(spot: HotSpot) -> str:
    """ "loader.py:27"."""
    return f"{spot.file.rsplit('/', 1)[-1]}:{spot.line}"


def has_begun(rank: Rank) -> bool:
    """It trains: what reads, makes or writes the data set before looks like a loader or a logger, too."""
    return (
        _tells_of_training(rank.progress.newest)
        or share_of(rank, "forward", "backward", "optimizer") > 0
        or _takes_from_loader(rank.stack.dump)
    )


def _tells_of_training(progress: Progress | None) -> bool:
    """A value that nothing but a training has; what reads or makes a data set counts steps as well."""
    return progress is not None and any(
        value is not None for value in (progress.epoch, progress.loss, progress.lr, progress.grad_norm, progress.reward)
    )


def loading_share(rank: Rank) -> float:
    """Of its time, in its own loading or waiting for it."""
    return share_of(rank, "data", "data-main")


def is_loading(history: History, rank: Rank) -> bool:
    """Something shows that what it waits for is data: a library's loader, names, or bytes that are read. Processes and threads that a
    job starts also simulate, search or serve."""
    if any(worker.is_named_loader for worker in rank.workers) or share_of(rank, "data-main") > share_of(rank, "data"):
        return True
    if any(_takes_from_loader(dump) for dump in _dumps(history, rank)) or _threads_read(history, rank):
        return True
    if wait_share(history, rank, *(BYTES - {"pipe"})) > EXPLAINS:
        return True
    functions = [] if _await_messages(history, rank) else [spot.function for spot in rank.stack.worker_hot]
    functions += [line.function for line in rank.stack.hot_lines if line.phase == "data"]
    if not rank.workers and (spot := thread_spot(history, rank)) is not None:
        functions.append(spot.function)
    return any(map(is_named_for_data, functions))


def _await_messages(history: History, rank: Rank) -> bool:
    """Most of its workers wait for another process of the job: what they read is no data, whatever the function is called."""
    return wait_share(history, rank, "pipe") > MOSTLY


def _takes_from_loader(dump: StackDump | None) -> bool:
    thread = training_thread(dump) if dump is not None else None
    return thread is not None and takes_from_loader(thread)


def cause_of(history: History, rank: Rank) -> Cause:
    """What the loading itself waits for: its CPU, bytes from elsewhere, or nothing but (more, or less sleepy) workers."""
    if wait_share(history, rank, "storage") > EXPLAINS:
        return "io"
    if busy_feeder(history, rank) is not None:
        return "cpu"
    if loads_in_threads(history, rank):
        return "cpu"
    if waits_at_queue(rank):
        return "io" if _threads_read(history, rank) else "workers"
    if share_of(rank, "data-main") > share_of(rank, "data") or not rank.workers:
        return "io" if _reads_itself(history, rank) and not _computes(history, rank) else "workers"
    busy = worker_pct(history, rank)
    if (busy is not None and busy >= WORKER_BUSY_PCT) or state_share(history, rank, "R") >= MOSTLY:
        return "cpu"
    return "io" if wait_share(history, rank, *BYTES) > EXPLAINS or _leaves_read(history, rank) else "workers"


def _leaves_read(history: History, rank: Rank) -> bool:
    """A worker's function is called as if it read."""
    is_named = any(worker.leaf is not None and _is_read(worker.leaf.name) for worker in rank.workers)
    return is_named and _names_count(history, rank)


def _names_count(history: History, rank: Rank) -> bool:
    """A name is no evidence against a kernel that shows another wait; `poll` may wait for a socket."""
    waits = main_wait(history, rank)
    return waits is None or waits[1] < EXPLAINS or waits[0] == "events"


def _reads_itself(history: History, rank: Rank) -> bool:
    """The line that loads most says so; or the kernel does; or its hottest function is named so, and nothing says otherwise."""
    line = next((line for line in rank.stack.hot_lines if line.phase == "data-main"), None)
    if line is not None and pauses(line.code):
        return False
    if line is not None and reads(line.code):
        return True
    if wait_share(history, rank, *BYTES) > EXPLAINS:
        return True
    is_named = bool(rank.stack.hot) and _is_read(rank.stack.hot[0].function)
    return is_named and _names_count(history, rank)


def _computes(history: History, rank: Rank) -> bool:
    """The training process keeps its core busy, or wants one: what it reads lies in memory already."""
    known = [value for _, value in history.rank_series(WINDOW_S, rank.rank, _wanted_pct)]
    if rank.process.run_delay_pct is None and state_share(history, rank, "R") >= MOSTLY:
        return True
    return bool(known) and fmean(known) >= WORKER_BUSY_PCT


def _wanted_pct(rank: Rank) -> float | None:
    """Of a core: what the main thread used, and the time for which it was ready to run and had none."""
    used_pct = rank.process.main_thread_cpu_pct
    return None if used_pct is None else used_pct + (rank.process.run_delay_pct or 0.0)


def waits_at_queue(rank: Rank) -> bool:
    """It has no loader workers, and does not load itself: threads or processes of its own making fill a queue."""
    return not rank.workers and share_of(rank, "data") > share_of(rank, "data-main")


def loads_in_threads(history: History, rank: Rank) -> bool:
    """It has no workers, and while its training thread waits at a queue, other threads of the process compute."""
    if not waits_at_queue(rank):
        return False
    known = [value for _, value in history.rank_series(WINDOW_S, rank.rank, _other_threads_pct)]
    if known and fmean(known) >= WORKER_BUSY_PCT:
        return True
    spot = thread_spot(history, rank)
    return spot is not None and spot.samples >= REPEATED and spot.share >= MOSTLY


def _other_threads_pct(rank: Rank) -> float | None:
    if rank.process.cpu_pct is None or rank.process.main_thread_cpu_pct is None:
        return None
    return rank.process.cpu_pct - rank.process.main_thread_cpu_pct


def thread_spot(history: History, rank: Rank) -> HotSpot | None:
    """The user function that threads besides the training thread computed in at most of the looks."""
    dumps = _dumps(history, rank)
    frames = [
        frame
        for dump in dumps
        for thread in dump.threads
        if thread.is_active and thread is not training_thread(dump) and (frame := user_frame(own_frames(thread)))
    ]
    if not frames:
        return None
    (function, file), count = Counter((short_name(frame.name), frame.short_filename) for frame in frames).most_common(
        1
    )[0]
    line = mode(frame.line for frame in frames if (short_name(frame.name), frame.short_filename) == (function, file))
    return HotSpot(function=function, file=file, line=line, share=count / len(dumps), samples=len(dumps))


def _dumps(history: History, rank: Rank) -> Sequence[StackDump]:
    dumps = {
        seen.stack.dump.at_s: seen.stack.dump
        for derived in history.over(STACKS_S)
        for seen in (derived.job.ranks if derived.job is not None else ())
        if seen.pid == rank.pid and seen.stack.dump is not None
    }
    return tuple(dumps.values())


def _threads_read(history: History, rank: Rank) -> bool:
    """In most looks another thread waits for bytes, called by the user's code: in a read, or in asyncio's loop."""
    dumps = _dumps(history, rank)
    reading = [
        any(_reads_in(thread) for thread in dump.threads if thread is not training_thread(dump)) for dump in dumps
    ]
    return bool(reading) and sum(reading) >= MOSTLY * len(reading)


def _reads_in(thread: ThreadStack) -> bool:
    frames = own_frames(thread)
    inner = called_by_user(frames)
    if len(inner) == len(frames):  # a library's own thread
        return False
    return any(_is_read(frame.name) or (frame.short_filename, short_name(frame.name)) == _ASYNCIO for frame in inner)


def worker_pct(history: History, rank: Rank) -> float | None:
    """Mean CPU of the rank's workers over the window."""
    known = [value for _, value in history.rank_series(WINDOW_S, rank.rank, _mean_worker_pct)]
    return fmean(known) if known else None


def _mean_worker_pct(rank: Rank) -> float | None:
    known = [worker.cpu_pct for worker in rank.workers if worker.cpu_pct is not None]
    return fmean(known) if known else None


def _is_read(function: str) -> bool:
    return not _READ_WORDS.isdisjoint(word.lower() for word in _WORD.findall(function.rsplit(".", 1)[-1]))


def hot_spot(ranks: Sequence[Rank]) -> HotSpot | None:
    """The function that these ranks' loading (or, without workers, they themselves) are in most."""
    spots = [spot for rank in ranks if (spot := _spot(rank)) is not None]
    return max(spots, key=lambda spot: spot.samples, default=None)


def _spot(rank: Rank) -> HotSpot | None:
    if rank.stack.worker_hot:
        return rank.stack.worker_hot[0]
    phase = "data" if waits_at_queue(rank) else "data-main"
    lines = [line for line in rank.stack.hot_lines if line.phase == phase]
    if not lines:
        return next(iter(rank.stack.hot), None) if phase == "data-main" else None
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        counts[line.function, line.file] += line.samples
    function, file = counts.most_common(1)[0][0]
    own = [line for line in lines if (line.function, line.file) == (function, file)]
    share = sum(line.share for line in own)
    return HotSpot(function=function, file=file, line=own[0].line, share=share, samples=counts[function, file])
