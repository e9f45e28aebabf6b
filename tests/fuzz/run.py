"""Fuzz: for some minutes, spoilt input for all that hwtop reads; each failure is made small and kept in tests/data/fuzz.

    python -m tests.fuzz.run [--minutes 5] [--seed N] [TARGET ...]

A failure is an exception, a number that cannot be, JSON that is none, or more CPU time than an item of 64 KiB may take. What is
kept is replayed by tests/fuzz/test_fuzz.py.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.fuzz import answers, recordings, texts, trees
from tests.fuzz.target import Item, Target

TARGETS = {target.name: target for part in (texts, trees, answers, recordings) for target in part.TARGETS}
CORPUS = Path(__file__).parent.parent / "data" / "fuzz"
CPU_S = 4.0
"""CPU time that one item may take, rules and JSON included; a usual one takes 0.03 s."""
MOST_MEMORY_BYTES = 8 << 30
"""Address space on top of what the process has: what asks for more gets a MemoryError, and the machine keeps its memory."""
_MOST_TRIES = 400
"""To make one failure smaller."""


class SlowError(AssertionError):
    """An item took more than `CPU_S`."""


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Raises SlowError in the main thread once the process has used `CPU_S`."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SlowError(f"more than {CPU_S:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def memory_limit() -> Iterator[None]:
    """A list without an end fails with a MemoryError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()  # several GB where torch is imported
    most_bytes = taken + MOST_MEMORY_BYTES
    within = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (within, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def failure(target: Target, item: Item, folder: Path) -> BaseException | None:
    """What is wrong with this item; None where all claims hold."""
    try:
        with cpu_limit(), memory_limit():
            target.check(item.variant, item.data, folder)
    except Exception as error:
        return error
    return None


def kind(error: BaseException) -> str:
    """The same for two items that fail in the same way: exception and the innermost line of hwtop, or what is claimed."""
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "/hwtop/" in frame.filename]
    place = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else str(error).partition(": ")[0][:120]
    return f"{type(error).__name__} {place}"


def smaller(target: Target, item: Item, wanted: str, folder: Path) -> Item:
    """The item with as much left out as still fails in the same way."""
    tries, size = 0, len(item.data) // 2
    while size and tries < _MOST_TRIES:
        at = 0
        while at < len(item.data) and tries < _MOST_TRIES:
            tries += 1
            shorter = Item(item.variant, item.data[:at] + item.data[at + size :])
            error = failure(target, shorter, folder)
            if error is not None and kind(error) == wanted:
                item = shorter
            else:
                at += size
        size //= 2
    return item


def run(targets: list[Target], seconds: float, seed: int) -> int:
    """How many kinds of failures were found."""
    found: dict[str, Path] = {}
    counts = dict.fromkeys((target.name for target in targets), 0)
    cpu_s = dict.fromkeys(counts, 0.0)
    end_s = time.monotonic() + seconds
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end_s:
            target = targets[number % len(targets)]
            item = target.item(random.Random(f"{seed} {number}"))
            place = Path(folder) / target.name
            place.mkdir(exist_ok=True)
            before_s = time.process_time()
            error = failure(target, item, place)
            cpu_s[target.name] += time.process_time() - before_s
            counts[target.name] += 1
            number += 1
            if error is not None and (name := f"{target.name}: {kind(error)}") not in found:
                found[name] = kept(target, smaller(target, item, kind(error), place))
                print(f"\nFAILED {name}\n  {found[name]}", flush=True)
                traceback.print_exception(error, limit=-3, file=sys.stdout)
    for name, count in counts.items():
        print(f"{name:12} {count:6} items {1000 * cpu_s[name] / max(1, count):7.1f} ms of CPU each")
    print(f"seed {seed}: {number} items, {len(found)} kinds of failures")
    return len(found)


def kept(target: Target, item: Item) -> Path:
    """Where the item is stored in the corpus."""
    folder = CORPUS / target.name
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / hashlib.sha256(item.packed).hexdigest()[:12]
    place.write_bytes(item.packed)
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no target {unknown}: use {', '.join(TARGETS)}")
    targets = [TARGETS[name] for name in arguments.targets or TARGETS]
    sys.exit(1 if run(targets, 60 * arguments.minutes, arguments.seed) else 0)


if __name__ == "__main__":
    main()
