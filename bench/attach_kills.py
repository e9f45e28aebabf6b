"""hwtop and its py-spy killed at random moments while they are attached to a process: is that process ever left stopped?

    python bench/attach_kills.py [--attaches 1000] [--seed N]

Each round starts one of `HWTOP` on a Python process with four threads, and kills (SIGKILL) hwtop, its py-spy, or both, at random:
at some moment of hwtop's life, or some milliseconds after py-spy was started. Then the process must run: no thread stopped or
traced, and all of them count on. What is left stopped is counted, continued, and makes the exit status 1. Of deep looks, which stop the
process while they read it, never both are killed: hwtop is what continues a process that py-spy has left stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

TARGET = """
import mmap, sys, threading, time
file = open(sys.argv[1], "r+b")
counts = mmap.mmap(file.fileno(), 4 * 8)
def count(thread):
    number = 0
    while True:
        number += 1
        counts[8 * thread:8 * thread + 8] = number.to_bytes(8, "little")
        time.sleep(0.001)
for thread in range(1, 4):
    threading.Thread(target=count, args=(thread,), daemon=True).start()
count(0)
"""
DEEP = """
import sys
from hwtop.collectors.stacks.deep_look import DeepSource
from hwtop.model.plan import Request
print(DeepSource().look(Request(number=1, kind="native", pid=int(sys.argv[1]))))
"""
HWTOP = {
    "stacks": ["-m", "hwtop", "stacks"],
    "diagnose": ["-m", "hwtop", "diagnose", "--for", "2s", "-p"],
    "deep look": ["-c", DEEP],
}
WEIGHTS = (8, 3, 1)
LIFE_S = 1.5
"""hwtop is killed within so long where its py-spy is not waited for."""
POLL_S = 0.002
PYSPY_MS = 15.0
"""py-spy is killed within so long of its start: a dump takes 10 ms of CPU."""
MOVES_S = 20.0
"""A busy machine lets every thread run within this time."""
LEFT_S = 60.0
"""A py-spy whose hwtop was killed ends within this time: its window is of 4 s, and a machine may be busy."""


class Target:
    """A process that counts in every thread."""

    def __init__(self, folder: Path) -> None:
        path = folder / "counts"
        path.write_bytes(bytes(32))
        with path.open("r+b") as file:
            self._counts = mmap.mmap(file.fileno(), 32)
        self._process = subprocess.Popen([sys.executable, "-c", TARGET, str(path)])
        self.pid = self._process.pid

    def counts(self) -> list[int]:
        return [int.from_bytes(self._counts[at : at + 8], "little") for at in range(0, 32, 8)]

    def moves(self) -> bool:
        """Every thread counts on."""
        before, ends_s = self.counts(), time.monotonic() + MOVES_S
        while time.monotonic() < ends_s:
            if all(now > then for now, then in zip(self.counts(), before, strict=True)):
                return True
            time.sleep(0.005)
        return False

    def held(self) -> list[str]:
        """State and tracer of the threads that are stopped or traced."""
        found = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            fields = dict(line.partition(":\t")[::2] for line in (task / "status").read_text().splitlines())
            if fields["State"][0] in "Tt" or fields["TracerPid"] != "0":
                found.append(f"thread {task.name}: {fields['State']}, tracer {fields['TracerPid']}")
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def spies(target: int, parent: int | None = None) -> list[int]:
    """py-spys that are told this PID; only those that a process has started, which is found sooner, if one is named."""
    names = os.listdir("/proc") if parent is None else children(parent)
    return [int(name) for name in names if name.isdigit() and is_spy(name, target)]


def children(pid: int) -> list[str]:
    found: list[str] = []
    with contextlib.suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += file.read_text().split()
    return found


def is_spy(name: str, target: int) -> bool:
    try:
        words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"py-spy" in words[0] and str(target).encode() in words


def kill(pids: list[int]) -> bool:
    """Whether any of them was there to be killed."""
    is_any = False
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            is_any = True
    return is_any


def attach(target: Target, dice: random.Random) -> tuple[str, str]:
    """One hwtop on the target, and who was killed. Returns when all of it has ended."""
    name = dice.choices(list(HWTOP), WEIGHTS)[0]
    victim = dice.choice(("hwtop", "py-spy") if name == "deep look" else ("hwtop", "py-spy", "both"))
    hwtop = subprocess.Popen(
        [sys.executable, *HWTOP[name], str(target.pid)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if victim == "hwtop" and dice.random() < 0.5:
        with contextlib.suppress(subprocess.TimeoutExpired):
            hwtop.wait(dice.uniform(0, LIFE_S))
        was_there = hwtop.poll() is None
        hwtop.kill()
    else:
        started: list[int] = []
        while not started and hwtop.poll() is None:
            started = spies(target.pid, hwtop.pid)
            time.sleep(POLL_S)
        time.sleep(dice.uniform(0, PYSPY_MS) / 1000)
        victims = {"hwtop": [hwtop.pid], "py-spy": started, "both": [*started, hwtop.pid]}[victim]
        was_there = hwtop.poll() is None and kill(victims)
    hwtop.wait()
    ends_s = time.monotonic() + LEFT_S
    while spies(target.pid) and time.monotonic() < ends_s:
        time.sleep(0.01)
    return name, victim if was_there else "nobody in time"


@contextlib.contextmanager
def running() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:
        target = Target(Path(folder))
        try:
            yield target
        finally:
            target.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attaches", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the process ends with it
    dice = random.Random(arguments.seed)
    print(f"seed {arguments.seed}", flush=True)
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    with running() as target:
        target.moves()
        for number in range(1, arguments.attaches + 1):
            what = attach(target, dice)
            counts[what] += 1
            held = target.held() if target.moves() else [*target.held(), "does not run on"]
            left = spies(target.pid)
            if held or left:
                wrong.append(f"attach {number}, {what[0]}, killed: {what[1]}: {held or f'py-spy {left} is left'}")
                print(wrong[-1], flush=True)
                kill(left)
                os.kill(target.pid, signal.SIGCONT)
            if number % 50 == 0:
                print(f"{number} attaches, {len(wrong)} that left something behind", flush=True)
    for (name, victim), count in sorted(counts.items()):
        print(f"{count:5} x {name}, killed: {victim}")
    print(f"{sum(counts.values())} attaches: the process was left stopped, or a py-spy left over, after {len(wrong)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
