"""Recorded stacks, and real processes to take stacks of."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from hwtop.collectors.stacks.pyspy import parse
from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.groups import group
from hwtop.model.job import StackGroup
from hwtop.model.stack import StackFrame, ThreadStack

FOLDER = Path(__file__).parent / "data" / "stacks"
TORCH_JOB = FOLDER / "jobs" / "torch_trainer.py"
QUEUE_JOB = FOLDER / "jobs" / "queue_trainer.py"
_DEADLINE_S = 90.0
T = TypeVar("T")


def recorded(name: str) -> ThreadStack:
    """The main thread of a recorded dump."""
    return parse((FOLDER / f"{name}.json").read_bytes(), 0)[0]


def stack(*frames: str, active: bool = False) -> ThreadStack:
    """A made-up stack, leaf first; each frame "function file line", files without a directory are the user's."""
    return ThreadStack(
        name="MainThread",
        os_thread_id=1,
        is_active=active,
        owns_gil=False,
        frames=tuple(frame(text) for text in frames),
    )


def grouped(stacks: Mapping[int, ThreadStack]) -> tuple[StackGroup, ...]:
    """The groups of ranks with these main threads."""
    return group({rank: classified(thread.frames) for rank, thread in stacks.items()})


def frame(text: str) -> StackFrame:
    """One frame of `stack`."""
    name, file, line = text.split()
    is_own = "/" not in file and file not in ("queue.py", "threading.py", "selectors.py")
    is_std = file.startswith(("multiprocessing/", "logging/", "concurrent/")) or not is_own
    folder = "/home/ana/train" if is_own else "/usr/lib/python3.12" if is_std and "torch" not in file else _SITE
    return StackFrame(name=name, filename=f"{folder}/{file}", short_filename=file, line=int(line))


_SITE = "/home/ana/venv/lib/python3.12/site-packages"


@contextlib.contextmanager
def running(script: Path, *arguments: str, **env: str) -> Iterator[int]:
    """A real process and its children, in a group of their own that ends with the block."""
    process = subprocess.Popen(
        [sys.executable, str(script), *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", **env},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def two_ranks(which: str) -> Iterator[tuple[int, int]]:
    """Two ranks of the torch job over gloo."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    with (
        running(TORCH_JOB, which, RANK="0", LOCAL_RANK="0", **env) as first,
        running(TORCH_JOB, which, RANK="1", LOCAL_RANK="1", **env) as second,
    ):
        yield first, second


def until(read: Callable[[], T], wanted: Callable[[T], bool]) -> T:
    """The first value that is wanted; the newest one when the deadline has passed."""
    ends_s = time.monotonic() + _DEADLINE_S
    while True:
        value = read()
        if wanted(value) or time.monotonic() > ends_s:
            return value
        time.sleep(0.1)


def children(pid: int) -> list[int]:
    """Direct children of a process."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{entry}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(entry))
    return sorted(found)


def os_state(pid: int) -> str:
    """State letter and tracer of a process, e.g. "S 0"."""
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return f"{fields['State'][:1]} {fields['TracerPid']}"
