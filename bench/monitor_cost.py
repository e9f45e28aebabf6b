"""What a running monitor takes: CPU share and terminal bytes a second of hwtop, and of nvitop where it is installed.

    python bench/monitor_cost.py [SECONDS]

Both watch the same demo job on a 160x50 terminal, with eight simulated GPUs (the fake driver of the tests, built with gcc).
"""

from __future__ import annotations

import importlib.util
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

WARM_UP_S = 20.0
"""hwtop spends half of its first minute's allowance for stacks at once."""


def cpu_s(pid: int) -> float:
    """CPU time of a process and its finished children so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def drain(master: int, seconds: float) -> int:
    """Read what the monitor draws, for so long; how many bytes."""
    count, ends = 0, time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if select.select([master], [], [], left)[0]:
            count += len(os.read(master, 1 << 16))
    return count


@contextmanager
def on_terminal(command: list[str], env: Mapping[str, str] = {}) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program on a terminal of 160x50, with `env` on top of the environment; and where to read what it draws."""
    master, slave = pty.openpty()
    ioctl(master, TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", **env}
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=ROOT, start_new_session=True
    )
    os.close(slave)
    try:
        yield process, master
    finally:
        process.kill()
        process.wait()
        os.close(master)


def run(name: str, command: list[str], env: dict[str, str], seconds: float) -> None:
    with on_terminal(command, env) as (process, master):
        drain(master, WARM_UP_S)
        before, began = cpu_s(process.pid), time.monotonic()
        drawn = drain(master, seconds)
        spent = time.monotonic() - began
        used = cpu_s(process.pid) - before
        status = Path(f"/proc/{process.pid}/status").read_text()
    rss = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    print(
        f"{name:8} CPU {100 * used / spent:5.1f} % of a core   {drawn / spent / 1000:6.1f} kB/s   {rss.split(':')[1].strip()}"
    )


def main() -> None:
    from hwtop.demo.catalogue import find
    from hwtop.demo.run import DemoJob

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    scenario = find("healthy")
    assert scenario is not None
    with tempfile.TemporaryDirectory() as folder:
        fake = ROOT / "tests" / "fakenvml"
        subprocess.run(["make", "-s", "-C", str(fake), f"DIR={folder}"], check=True, capture_output=True)
        env = {
            "LD_LIBRARY_PATH": folder,
            "FAKENVML_SCENARIO": str(fake / "scenarios" / "h100x8-train.scn"),
        }
        with DemoJob(scenario, Path(folder), is_stdlib_forced=True) as job:
            run("hwtop", [sys.executable, "-m", "hwtop", str(job.launcher_pid)], env, seconds)
            if importlib.util.find_spec("nvitop"):
                run("nvitop", [sys.executable, "-m", "nvitop"], env, seconds)
            else:
                print("nvitop is not installed: pip install nvitop to see it beside hwtop")


if __name__ == "__main__":
    main()
