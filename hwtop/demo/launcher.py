"""The launcher of a demo job: starts the ranks, gives each a log, waits for all of them.

It does not end the other ranks when one fails, as a bare shell loop or srun without --kill-on-bad-exit would not.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

POLL_S = 0.2


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def rank_environment(rank: int, world_size: int, port: int) -> dict[str, str]:
    """What torch's env:// initialisation reads, and one compute thread a rank, unless told otherwise, as torchrun sets it."""
    return {
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": str(world_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "PYTHONUNBUFFERED": "1",
        "HWTOP_DEMO_LAUNCHER": str(os.getpid()),
    }


def start_ranks(world_size: int, log_dir: Path, command: list[str]) -> list[subprocess.Popen[bytes]]:
    """Start one process a rank; its stdout and stderr go to `rank_N.log`. No ranks: one process that is told of none."""
    port = free_port()
    ranks = []
    for rank in range(max(1, world_size)):
        with (log_dir / f"rank_{rank}.log").open("wb") as log:
            ranks.append(
                subprocess.Popen(
                    command,
                    env=rank_environment(rank, world_size, port) if world_size else None,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
        print(f"started rank {rank} as PID {ranks[-1].pid}", flush=True)
    return ranks


def wait_for_ranks(ranks: list[subprocess.Popen[bytes]], parent_pid: int) -> int:
    """Wait until every rank has ended; 128 + N for a rank that signal N ended. Returns the worst code.

    When the process that asked for the job ends first, the whole process group is killed.
    """
    told: set[int] = set()
    while len(told) < len(ranks):
        if os.getppid() != parent_pid:
            os.killpg(os.getpgrp(), signal.SIGKILL)
        for rank, process in enumerate(ranks):
            code = process.poll()
            if code is not None and rank not in told:
                told.add(rank)
                print(f"rank {rank} (PID {process.pid}) ended with exit code {code}", flush=True)
        time.sleep(POLL_S)
    return max(code if code >= 0 else 128 - code for code in (process.returncode for process in ranks))


def main() -> int:
    """Run a job: `launcher.py --nproc 2 --log-dir DIR --parent PID FILE|MODULE [ARGUMENT...]`."""
    parser = argparse.ArgumentParser(description="Start the ranks of a small training job.")
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--log-dir", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True, help="PID whose end ends the job")
    parser.add_argument("trainer", help="a module, or a file that ends in .py")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    what = [options.trainer] if options.trainer.endswith(".py") else ["-m", options.trainer]
    command = [sys.executable, "-u", *what, *options.arguments]
    return wait_for_ranks(start_ranks(options.nproc, options.log_dir, command), options.parent)


if __name__ == "__main__":
    sys.exit(main())
