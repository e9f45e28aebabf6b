"""What a heartbeat costs the training: nanoseconds a call, beside a call of an empty function.

    python bench/heartbeat_cost.py

Median of 5 runs of 200,000 calls each; the bar is 2 µs. Then what importing it takes, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter_ns

sys.path.insert(0, str(Path(__file__).parent.parent))

from hwtop import heartbeat

RUNS, CALLS = 5, 200_000
BAR_NS = 2000.0


def empty(step: object = None, loss: object = None, **numbers: object) -> None:
    pass


def steps(call: Callable[..., None]) -> None:
    for step in range(CALLS):
        call(step=step)


def steps_and_loss(call: Callable[..., None]) -> None:
    for step in range(CALLS):
        call(step=step, loss=0.5)


def four_numbers(call: Callable[..., None]) -> None:
    for step in range(CALLS):
        call(step=step, loss=0.5, lr=1e-3, grad_norm=1.5)


def cost_ns(loop: Callable[[Callable[..., None]], None], call: Callable[..., None]) -> float:
    runs = []
    for _ in range(RUNS):
        started = perf_counter_ns()
        loop(call)
        runs.append((perf_counter_ns() - started) / CALLS)
    return median(runs)


def import_ms() -> tuple[float, float]:
    """(with, without): median CPU time of Python starting up, with the import and without."""
    found = []
    for code in ("from hwtop import heartbeat", "pass"):
        line = f"import time\nbegan = time.process_time()\n{code}\nprint(1000 * (time.process_time() - began))"
        words = [sys.executable, "-c", line]
        here = str(Path(__file__).parent.parent)
        runs = [
            float(subprocess.run(words, capture_output=True, text=True, check=True, cwd=here).stdout) for _ in range(9)
        ]
        found.append(median(runs))
    return found[0], found[1]


def main() -> None:
    heartbeat(step=0)
    print(f"{'call':<36} {'heartbeat':>10} {'empty':>10}")
    worst = 0.0
    for name, loop in (
        ("(step=)", steps),
        ("(step=, loss=)", steps_and_loss),
        ("(step=, loss=, lr=, grad_norm=)", four_numbers),
    ):
        beat, nothing = cost_ns(loop, heartbeat), cost_ns(loop, empty)
        worst = max(worst, beat)
        print(f"heartbeat{name:<27} {beat:>7.0f} ns {nothing:>7.0f} ns")
    print(f"{'within' if worst < BAR_NS else 'OVER'} the bar of {BAR_NS:.0f} ns a call")
    with_it, without = import_ms()
    print(f"import: {with_it - without:.2f} ms of CPU time")


if __name__ == "__main__":
    main()
