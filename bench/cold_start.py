"""What starting costs: wall time, CPU time and modules of each command, as a process; nvitop beside it where installed."""

from __future__ import annotations

import importlib.util
import resource
import statistics
import subprocess
import sys
import time

from bytecode import compile_hwtop

RUNS = 7
HWTOP = [sys.executable, "-m", "hwtop"]
COMMANDS: dict[str, list[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "hwtop -V": [*HWTOP, "-V"],
    "hwtop scan (empty)": [*HWTOP, "scan", "/dev/null"],
    "hwtop demo --list": [*HWTOP, "demo", "--list"],
    "import of diagnose": [sys.executable, "-c", "import hwtop.feed.watch, hwtop.report.frame.json_report"],
    "import of the screen": [sys.executable, "-c", "import hwtop.ui.app"],
}
if importlib.util.find_spec("nvitop"):
    COMMANDS["nvitop --version"] = [sys.executable, "-m", "nvitop", "--version"]
    COMMANDS["import of nvitop's screen"] = [sys.executable, "-c", "import nvitop.tui"]


def measure(command: list[str]) -> tuple[float, float]:
    """(wall, CPU) seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    compile_hwtop()
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):  # in turn, so that a noisy moment hits all of them
        for name, command in COMMANDS.items():
            runs[name].append(measure(command))
    base = statistics.median(cpu for _, cpu in runs["python -c pass"])
    print(f"{'command':28} {'wall ms':>8} {'CPU ms':>8} {'x python':>9}   (medians of {RUNS})")
    for name, times in runs.items():
        wall, cpu = (statistics.median(each) for each in zip(*times, strict=True))
        print(f"{name:28} {wall * 1000:8.0f} {cpu * 1000:8.0f} {cpu / base:9.1f}")
    if "nvitop --version" not in COMMANDS:
        print("nvitop is not installed: pip install nvitop to see it beside hwtop")


if __name__ == "__main__":
    main()
