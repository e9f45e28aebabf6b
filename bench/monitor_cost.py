"""What a running monitor takes, beside nvitop, htop, btop and glances where they are installed: CPU, memory, first screen.

    python bench/monitor_cost.py [SECONDS] [--tools FOLDER]

All run at once, on the same machine with the same load: hwtop without a job and attached to eight ranks, each on a 200x50 terminal, with
eight simulated GPUs (the fake driver of the tests, built with gcc). The ranks wait for their device most of the time. "Used" is with one
look a second, as after a key; "idle" is a screen that nobody has used for a minute. CPU is CPU time, py-spy included. FOLDER is looked
into for programs before PATH.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from bytecode import compile_hwtop

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

RANKS = 8
TOOLS = {
    "nvitop": (["--interval", "1"], b"GPU"),
    "htop": (["--delay", "10"], b"PID"),
    "btop": ([], b"%"),
    "glances": (["--time", "1"], b"CPU"),
}
"""Programs to compare with: arguments for a refresh a second (btop has none: 2 s), and a text of the first useful screen."""
WARM_UP_S = 75.0
"""hwtop spends half of its first minute's allowance for stacks at once, and asks all rules at each refresh; then it may be idle."""
LIGHT = ("--forward-ms", "3", "--backward-ms", "3", "--decode-ms", "2", "--device-ms", "300", "--num-workers", "1")
"""Ranks that leave the cores to others, as those do that wait for a GPU."""


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
def on_terminal(
    command: list[str], env: Mapping[str, str] = {}, columns: int = 160
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program on a terminal of 50 rows, with `env` on top of the environment; and where to read what it draws."""
    master, slave = pty.openpty()
    ioctl(master, TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
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


class Watched:
    """One monitor while it runs: what it draws is read, and counted, by a thread."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], master: int, word: bytes) -> None:
        self.name, self.process = name, process
        self.drawn = 0
        self.first_s: float | None = None
        """CPU time until `word` was on the screen."""
        self._master, self._word = master, word
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        seen = b""
        while True:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # it has ended
                return
            self.drawn += len(data)
            if self.first_s is None:
                seen += data
                if self._word in seen:
                    self.first_s = cpu_s(self.process.pid)

    def rss_mb(self) -> float:
        """Resident memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def commands(pid: int, folder: str | None, used: Path) -> dict[str, tuple[list[str], bytes]]:
    """Name -> command, and the word that its first useful screen shows. `used`: settings without a longer interval while idle."""
    own = [sys.executable, "-m", "hwtop"]
    found = {
        "hwtop, no job, used": ([*own, "--config", str(used)], b"Pick"),
        "hwtop, no job, idle": (own, b"Pick"),
        f"hwtop, {RANKS} ranks, used": ([*own, str(pid), "--config", str(used)], b"rank"),
        f"hwtop, {RANKS} ranks, idle": ([*own, str(pid)], b"rank"),
    }
    for name, (arguments, word) in TOOLS.items():
        path = (shutil.which(name, path=folder) if folder else None) or shutil.which(name)
        if path is None:
            print(f"{name} is not installed")
        else:
            found[name] = ([path, *arguments], word)
    return found


def measure(programs: dict[str, tuple[list[str], bytes]], env: dict[str, str], seconds: float) -> None:
    with ExitStack() as stack:
        running = []
        for name, (
            command,
            word,
        ) in programs.items():  # one after the other: starting at once, they would share the cores
            process, master = stack.enter_context(on_terminal(command, env, columns=200))
            running.append(Watched(name, process, master, word))
            time.sleep(3)
        time.sleep(WARM_UP_S)
        began = [(cpu_s(each.process.pid), each.drawn) for each in running]
        began_s = time.monotonic()
        time.sleep(seconds)
        spent_s = time.monotonic() - began_s
        used = [cpu_s(each.process.pid) - before for each, (before, _) in zip(running, began, strict=True)]
        base = next((cpu for each, cpu in zip(running, used, strict=True) if each.name == "nvitop"), None)
        print(f"{'':21} {'CPU of a core':>13} {'x nvitop':>9} {'memory':>8} {'first screen':>13} {'output':>10}")
        for each, cpu, (_, drawn) in zip(running, used, began, strict=True):
            ratio = f"{cpu / base:.1f}" if base else "-"
            first = "-" if each.first_s is None else f"{each.first_s:.2f} s CPU"
            print(
                f"{each.name:21} {100 * cpu / spent_s:11.1f} % {ratio:>9} {each.rss_mb():5.0f} MB {first:>13}"
                f" {(each.drawn - drawn) / spent_s / 1000:5.1f} kB/s"
            )
    print(f"load average while measured: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def main() -> None:
    from hwtop.demo.catalogue import find
    from hwtop.demo.run import DemoJob

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    parser.add_argument("--tools", metavar="FOLDER")
    arguments = parser.parse_args()
    compile_hwtop()
    scenario = find("healthy")
    assert scenario is not None
    with tempfile.TemporaryDirectory() as folder:
        fake = ROOT / "tests" / "fakenvml"
        subprocess.run(["make", "-s", "-C", str(fake), f"DIR={folder}"], check=True, capture_output=True)
        env = {
            "LD_LIBRARY_PATH": folder,
            "FAKENVML_SCENARIO": str(fake / "scenarios" / "h100x8-train.scn"),
            "PYTHONPATH": str(ROOT),
            "LC_ALL": "C.UTF-8",  # btop asks for it
        }
        used = Path(folder) / "used.toml"
        used.write_text('[screen]\nidle_interval = "1s"\n')
        light = replace(scenario, arguments=LIGHT)
        with DemoJob(light, Path(folder), rank_count=RANKS, is_stdlib_forced=True) as job:
            measure(commands(job.launcher_pid, arguments.tools, used), env, arguments.seconds)


if __name__ == "__main__":
    main()
