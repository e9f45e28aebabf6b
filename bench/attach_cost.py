"""What being watched costs a training job, and what the stack sampling takes.

    python bench/attach_cost.py [PAIRS [SECONDS]]

Steps a second of a real two-rank DDP job over gloo, from its own notes of each step, while `hwtop PID` runs on a terminal and
while the same hwtop (with all py-spy) is stopped, by turns; then again with 300 more sleeping threads in each rank. Many short
turns, because a shared machine drifts by more than hwtop takes; how far two turns without hwtop differ is printed beside. Turns
of 10 s, because an hwtop that goes on first does what it missed.
Then the CPU share of the stack sampling alone over its first minute, with 2 and 8 ranks, with and without a focused rank.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from monitor_cost import on_terminal  # noqa: E402

JOB = Path(__file__).parent / "attach_job.py"
SETTLE_S = 5.0
BAR_PCT = 1.0
SAMPLED_S = 60.0


@contextlib.contextmanager
def job(folder: Path, ranks: int, extra_threads: int) -> Iterator[list[int]]:
    """Its rank processes; rank 0 notes its steps in folder/steps.0."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(JOB), str(folder / f"steps.{rank}"), str(extra_threads)],
            env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks)},
            stdout=subprocess.DEVNULL,
        )
        for rank in range(ranks)
    ]
    try:
        while len(steps(folder)) < 50:
            if any(process.poll() is not None for process in processes):
                sys.exit("the job did not start: is torch installed?")
            time.sleep(0.5)
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
        (folder / "steps.0").unlink(missing_ok=True)


def steps(folder: Path) -> list[float]:
    """When each step of rank 0 ended."""
    path = folder / "steps.0"
    raw = path.read_bytes() if path.exists() else b""
    return [at_s for (at_s,) in struct.iter_unpack("d", raw[: len(raw) // 8 * 8])]


def rate(folder: Path, seconds: float) -> float:
    """Steps a second over the next `seconds`."""
    began = time.monotonic()
    time.sleep(seconds)
    inside = [at_s for at_s in steps(folder) if began <= at_s <= began + seconds]
    return (len(inside) - 1) / (inside[-1] - inside[0])


@contextlib.contextmanager
def watched(pid: int) -> Iterator[int]:
    """The pid of `hwtop PID` on a terminal of 160x50, drained by a child of its own."""
    with on_terminal([sys.executable, "-m", "hwtop", str(pid)]) as (hwtop, master):
        drawn = 0
        while drawn < 10_000:
            if not select.select([master], [], [], 20.0)[0]:
                sys.exit("hwtop drew nothing")
            drawn += len(os.read(master, 1 << 16))
        drain = subprocess.Popen(["cat"], stdin=master, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield hwtop.pid
        finally:
            tell(hwtop.pid, signal.SIGKILL)
            drain.kill()
            drain.wait()


def tell(hwtop: int, what: signal.Signals) -> None:
    """To hwtop and to the py-spys that it has started."""
    children = Path(f"/proc/{hwtop}/task").glob("*/children")
    for pid in (hwtop, *(int(child) for file in children for child in file.read_text().split())):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def slow_down(extra_threads: int, pairs: int, seconds: float) -> None:
    alone: list[float] = []
    found: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with job(folder, 2, extra_threads) as pids, watched(pids[0]) as hwtop:
            time.sleep(SETTLE_S)
            for pair in range(pairs):
                turns = (signal.SIGSTOP, signal.SIGCONT) if pair % 2 else (signal.SIGCONT, signal.SIGSTOP)
                rates = {}
                for turn in turns:
                    tell(hwtop, turn)
                    rates[turn] = rate(folder, seconds)
                alone.append(rates[signal.SIGSTOP])
                found.append(100 * (1 - rates[signal.SIGCONT] / rates[signal.SIGSTOP]))
            tell(hwtop, signal.SIGCONT)
    print(
        f"{extra_threads} extra threads a rank: {median(alone):.2f} steps/s alone; slow-down of each pair, in percent:"
    )
    print("  " + " ".join(f"{each:+.1f}" for each in found))
    drift = median(100 * abs(1 - after / before) for before, after in pairwise(alone))
    verdict = "within" if median(found) <= BAR_PCT else "OVER"
    print(
        f"  median {median(found):+.2f} % ({verdict} the bar of {BAR_PCT:g} %); two turns without hwtop differ by {drift:.1f} %"
    )


def sampling(ranks: int, has_focus: bool) -> None:
    """In a process of its own, so that nothing else counts."""
    with tempfile.TemporaryDirectory() as name, idle_ranks(ranks, Path(name)) as pids:
        arguments = [str(pid) for pid in pids] + (["focus"] if has_focus else [])
        subprocess.run([sys.executable, __file__, "--sample", *arguments], check=True)


@contextlib.contextmanager
def idle_ranks(ranks: int, folder: Path) -> Iterator[list[int]]:
    """Processes that do a little and sleep a little: their number is what matters."""
    script = folder / "rank.py"
    script.write_text("import time\ndef step():\n time.sleep(0.05)\n sum(range(20000))\nwhile True:\n step()\n")
    processes = [subprocess.Popen([sys.executable, str(script)]) for _ in range(ranks)]
    time.sleep(1.0)
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def sample(arguments: list[str]) -> None:
    """Sample these processes for a minute and print what that took, hwtop's own threads included."""
    from hwtop.collectors.stacks.source import StackSource
    from hwtop.model.plan import SamplingPlan

    has_focus = arguments[-1] == "focus"
    pids = tuple(int(each) for each in arguments if each != "focus")
    source = StackSource()
    source.set_plan(SamplingPlan(stack_pids=pids, focus_pid=pids[0] if has_focus else None))
    before, began = cpu_s(), time.monotonic()
    samples = dict.fromkeys(pids, 0)
    while time.monotonic() - began < SAMPLED_S:
        reading = source.read()
        for profile in reading.profiles:
            samples[profile.pid] += len(profile.samples)
        for dump in reading.dumps:
            samples[dump.pid] += dump.error is None
        time.sleep(1.0)
    share = 100 * (cpu_s() - before) / (time.monotonic() - began)
    others = sorted(samples[pid] for pid in pids[has_focus:])
    reported = f"{samples[pids[0]]} samples of the focused rank, " if has_focus else ""
    print(
        f"{len(pids)} ranks: {share:.2f} % of a core in the first minute; {reported}{others[0]} to {others[-1]} of the others"
    )
    source.close()


def cpu_s() -> float:
    """Of this process and its finished children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    if sys.argv[1:2] == ["--sample"]:
        sample(sys.argv[2:])
        return
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    for extra_threads in (0, 300):
        slow_down(extra_threads, pairs, seconds)
    for ranks in (2, 8):
        for has_focus in (False, True):
            sampling(ranks, has_focus)


if __name__ == "__main__":
    main()
