"""A live hwtop on a demo job of eight ranks for hours: what it takes each minute, and whether that grows.

    python bench/soak.py [--minutes 120] [--settle 10]

Fails where memory, threads, descriptors or CPU time of the last minutes exceed those after the first ten by more than `GROWTH`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bytecode import compile_hwtop  # noqa: E402
from monitor_cost import LIGHT, RANKS, cpu_s, drain, on_terminal  # noqa: E402

GROWTH = {"rss_mb": 0.15, "threads": 0.25, "descriptors": 0.25, "cpu_pct": 0.5}
"""Share by which the median of the last minutes may exceed the first ones: the history of ten minutes and frames of the past
fill up to their bounds, and CPU time on a shared machine varies. Engineering defaults."""
COMPARED = 5
"""Minutes at each end, or a third of what there is."""
KEYS = b"12345678"


class Minute(NamedTuple):
    rss_mb: float
    threads: float
    descriptors: float
    cpu_pct: float


def main() -> None:
    from hwtop.demo.catalogue import find
    from hwtop.demo.run import DemoJob

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--settle", type=int, default=10, help="minutes at the start that are not compared")
    arguments = parser.parse_args()
    compile_hwtop()
    scenario = find("healthy")
    assert scenario is not None
    light = replace(scenario, arguments=LIGHT)
    with (
        tempfile.TemporaryDirectory() as folder,
        DemoJob(light, Path(folder), rank_count=RANKS, is_stdlib_forced=True) as job,
    ):
        minutes = watched(job.launcher_pid, arguments.minutes)
    after = minutes[arguments.settle :]
    if len(after) < 3:
        sys.exit(f"{len(after)} minutes after the first {arguments.settle}: too few to compare (--settle)")
    grown = growth(after)
    for text in grown:
        print(f"GROWS {text}")
    sys.exit(1 if grown else 0)


def watched(pid: int, minutes: int) -> list[Minute]:
    """What hwtop takes in each minute, on a terminal of its own, while some key is pressed now and then."""
    dice, found = random.Random(1), []
    print(f"{'minute':>6}  {'memory':>8}  {'threads':>7}  {'descriptors':>11}  {'CPU of a core':>13}")
    with on_terminal([sys.executable, "-m", "hwtop", str(pid)]) as (process, master):
        for number in range(1, minutes + 1):
            before_s, began_s = cpu_s(process.pid), time.monotonic()
            for _ in range(6):
                drain(master, 10.0)
                os.write(master, bytes([dice.choice(KEYS)]))
            if process.poll() is not None:
                sys.exit(f"hwtop ended with {process.returncode}")
            minute = taken(process.pid, cpu_s(process.pid) - before_s, time.monotonic() - began_s)
            found.append(minute)
            print(
                f"{number:>6}  {minute.rss_mb:>5.1f} MB  {minute.threads:>7.0f}  {minute.descriptors:>11.0f}  {minute.cpu_pct:>11.1f} %",
                flush=True,
            )
    return found


def taken(pid: int, used_s: float, passed_s: float) -> Minute:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return Minute(
        rss_mb=int(status["VmRSS"].split()[0]) / 1024,
        threads=int(status["Threads"]),
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),
        cpu_pct=100 * used_s / passed_s,
    )


def growth(minutes: list[Minute]) -> list[str]:
    """What grew by more than `GROWTH` from the first of these minutes to the last."""
    count = min(COMPARED, max(1, len(minutes) // 3))
    grown = []
    for name, share in GROWTH.items():
        first, last = (
            statistics.median(getattr(minute, name) for minute in part) for part in (minutes[:count], minutes[-count:])
        )
        if last > first * (1 + share):
            grown.append(f"{name}: {first:.1f} -> {last:.1f}, more than {100 * share:.0f} %")
    return grown


if __name__ == "__main__":
    main()
