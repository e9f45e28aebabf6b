"""What a flood of log lines costs: `python bench/log_flood.py [FILES] [LINES_PER_S] [SECONDS] [--noise]`.

A writer in a process of its own writes LINES_PER_S lines a second into each of FILES files (64, 2,000 and 60 by default) for
SECONDS; 200 lines that the patterns know are hidden among them. Printed: the CPU share of reading (log source) and of
understanding (patterns, progress, attribution), the memory it takes, and how many of the hidden lines were found.
With --noise one line in 500 tells progress, else every third.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from hwtop.collectors.logs.source import LogSource
from hwtop.derive.logs.log import LogBook
from hwtop.model.plan import LogTarget, SamplingPlan

HIDDEN = 200
INTERVAL_S = 1.0
ERRORS = (
    "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU {rank} has a total capacity of 79.11 GiB number {n}",
    "RuntimeError: CUDA error: device-side assert triggered number {n}",
    "OSError: [Errno 28] No space left on device: '/ckpt/step_{n}.pt'",
    "OSError: [Errno 24] Too many open files: '/data/shard-{n}.tar'",
)
PROGRESS = "[2026-01-02 03:04:05,678] [INFO] [trainer.py:96:log] step {step} | loss 2.{digits} | lr 3.0e-04 | 412.3 ms/step | 81,234 tokens/s"
NOISE = (
    "[2026-01-02 03:04:05,678] [DEBUG] [loader.py:210:fetch] worker 3 fetched shard 000{digits} in 12.3 ms from cache",
    "[2026-01-02 03:04:05,679] [DEBUG] [mesh.py:77:wait] bucket {digits} reduced over 8 peers, 25 MB, queue depth 2",
)


def write(folder: Path, files: int, rate: int, seconds: int, is_noise: bool) -> None:
    """The writer: ten bursts a second into each file, hidden lines at random places known to nobody."""
    chance = random.Random(7)
    hidden = {(chance.randrange(files), chance.randrange(seconds * 10)): number for number in range(HIDDEN * 2)}
    hidden = dict(list(hidden.items())[:HIDDEN])
    out = [(folder / f"rank{number}.log").open("ab", buffering=0) for number in range(files)]
    started, step, every = time.monotonic(), 0, 500 if is_noise else 3
    for tick in range(seconds * 10):
        lines = []
        for number in range(rate // 10):
            step += number % every == 0
            text = PROGRESS if number % every == 0 else NOISE[number % 2]
            lines.append(text.format(step=step, digits=chance.randrange(10, 99)))
        text = "\n".join(lines) + "\n"
        for number, file in enumerate(out):
            wanted = hidden.get((number, tick))
            error = "" if wanted is None else ERRORS[wanted % len(ERRORS)].format(rank=number, n=wanted) + "\n"
            middle = text.find("\n", len(text) // 3) + 1
            file.write((text[:middle] + error + text[middle:]).encode())
        time.sleep(max(0.0, started + (tick + 1) / 10 - time.monotonic()))
    late_s = time.monotonic() - started - seconds
    print(f"writer: {len(hidden)} lines hidden, {late_s:.1f} s late at the end")


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def watch(folder: Path, files: int, start: Callable[[], subprocess.Popen[bytes]]) -> None:
    """Start the writer, read once a second until the writer has ended and nothing is left in the files."""
    paths = [folder / f"rank{number}.log" for number in range(files)]
    source, book = LogSource(), LogBook()
    source.set_plan(SamplingPlan(logs=tuple(LogTarget(path=str(path)) for path in paths)))
    while any(file.size_bytes is None for file in source.read().files):
        time.sleep(0.1)
    writer = start()
    ranks_of = {str(path): (number,) for number, path in enumerate(paths)}
    found: set[str] = set()
    kept = skipped = 0
    read_s = derive_s = slowest_s = 0.0
    before_bytes = most_bytes = rss_bytes()
    started = time.monotonic()
    empty = 0
    while empty < 3:
        is_over = writer.poll() is not None
        at_s = time.monotonic()
        cpu_s = time.process_time()
        reading = source.read()
        empty = empty + 1 if is_over and not reading.lines else 0
        read_s += time.process_time() - cpu_s
        cpu_s = time.process_time()
        book.advance(reading, ranks_of, {})
        derive_s += time.process_time() - cpu_s
        slowest_s = max(slowest_s, time.monotonic() - at_s)
        kept, skipped = kept + len(reading.lines), skipped + reading.skipped_lines
        found |= {event.text.partition("number ")[2] or event.text for event in book.events if event.severity != "info"}
        most_bytes = max(most_bytes, rss_bytes())
        time.sleep(max(0.0, at_s + INTERVAL_S - time.monotonic()))
    spent_s = time.monotonic() - started - empty * INTERVAL_S
    steps = sum(book.of_rank(number, ranks_of, time.monotonic()).progress is not None for number in range(files))
    texts = [path.read_bytes() for path in paths]
    size_mb, written = sum(map(len, texts)) / 1e6, sum(text.count(b"\n") for text in texts)
    print(f"{size_mb:.0f} MB in {spent_s:.0f} s, {written:,} lines: {kept:,} kept, {skipped:,} skipped and counted")
    print(f"CPU of reading       {100 * read_s / spent_s:5.1f} % of a core")
    print(f"CPU of understanding {100 * derive_s / spent_s:5.1f} % of a core")
    print(f"slowest turn         {1000 * slowest_s:5.0f} ms")
    print(f"memory {before_bytes / 1e6:.0f} MB before, at most {most_bytes / 1e6:.0f} MB")
    print(f"found {len(found)} of {HIDDEN} hidden lines; progress of {steps} of {files} files")
    if kept + skipped != written or len(found) != HIDDEN or steps != files:
        raise SystemExit(1)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    files, rate, seconds = (*numbers, *(64, 2000, 60)[len(numbers) :])
    is_noise = "--noise" in sys.argv
    if "--write" in sys.argv:
        write(Path(sys.argv[sys.argv.index("--write") + 1]), files, rate, seconds, is_noise)
        return
    with tempfile.TemporaryDirectory() as folder:
        words = [str(files), str(rate), str(seconds), *(["--noise"] if is_noise else []), "--write", folder]
        for number in range(files):
            (Path(folder) / f"rank{number}.log").touch()
        watch(Path(folder), files, lambda: subprocess.Popen([sys.executable, __file__, *words]))


if __name__ == "__main__":
    main()
