"""A job of a set while it runs: started as a user would, and ended with every process that came from it."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import psutil
from wild_case import Case

LOGS = ("*.log", "*.txt", "*.out", "*.err", "*.csv", "*.json", "*.jsonl")
LOG_BYTES = 4_000_000
"""Larger files in the job's folder are not searched for `ready`."""
PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): orphans of a job become children of this process, so that none of them can get away."""


class NotRunError(Exception):
    """The job could not be brought to where hwtop is to attach."""


class Job(msgspec.Struct, frozen=True):
    """A started job."""

    process: subprocess.Popen[bytes]
    folder: Path
    """Its working directory."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def output(self) -> str:
        """Everything it has written so far to its output and its logs."""
        files = {path for glob in LOGS for path in self.folder.rglob(glob)}
        texts = []
        for path in sorted(files):
            with suppress(OSError):
                if path.is_file() and path.stat().st_size <= LOG_BYTES:
                    texts.append(path.read_text(errors="replace"))
        return "\n".join(texts)

    def tail(self) -> str:
        lines = [line.strip() for line in (self.folder / "job.log").read_text(errors="replace").splitlines()]
        return " | ".join([line for line in lines if line][-4:])[-600:]

    def wait_until_ready(self, case: Case) -> None:
        """Return when hwtop is to attach."""
        deadline = time.monotonic() + case.settle_s
        while case.ready is not None and not re.search(case.ready, self.output(), re.MULTILINE):
            if self.process.poll() is not None:
                raise NotRunError(f"ended with {self.process.returncode} before it was ready: {self.tail()}")
            if time.monotonic() > deadline:
                raise NotRunError(f"not ready after {case.settle_s:.0f} s: {self.tail()}")
            time.sleep(0.3)
        time.sleep(case.delay_s)
        if self.process.poll() is not None:
            raise NotRunError(f"ended with {self.process.returncode} before the look: {self.tail()}")

    def tree(self) -> list[psutil.Process]:
        """Its processes, the oldest first."""
        launcher = psutil.Process(self.pid)
        return sorted([launcher, *launcher.children(recursive=True)], key=lambda process: process.create_time())

    def ranks(self) -> dict[int, int]:
        """PID of each rank: the oldest process with that RANK, as loader workers inherit it."""
        pids: dict[int, int] = {}
        for process in self.tree():
            with suppress(psutil.Error, KeyError, ValueError):
                pids.setdefault(int(process.environ()["RANK"]), process.pid)
        return pids


@contextmanager
def started(case: Case, set_folder: Path, folder: Path, bin_folder: Path) -> Iterator[Job]:
    """Start the job in `folder` with the programs of `bin_folder`; afterwards end all that came from it."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log = folder / "job.log"
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(
                [_argument(each, set_folder, bin_folder) for each in case.command],
                cwd=folder,
                env=_environment(case, set_folder, bin_folder),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        yield Job(process, folder)
    finally:
        _end_children()


def happen(command: str, job: Job) -> None:
    """Do what the case plants from outside. The text goes to the shell's input, so that `pgrep -f` does not find the shell."""
    ranks = {f"RANK{rank}_PID": str(pid) for rank, pid in job.ranks().items()}
    tree = " ".join(str(process.pid) for process in job.tree())
    env = {**os.environ, **ranks, "PID": str(job.pid), "SESSION": str(job.pid), "TREE": tree}
    subprocess.run(["bash", "-s"], input=command, text=True, env=env, cwd=job.folder, check=True, timeout=30)


def _argument(text: str, set_folder: Path, bin_folder: Path) -> str:
    path = set_folder / text
    return str(path) if text and path.is_file() else _filled(text, set_folder, bin_folder)


def _filled(text: str, set_folder: Path, bin_folder: Path) -> str:
    return text.replace("{set}", str(set_folder)).replace("{env}", str(bin_folder.parent))


def _environment(case: Case, set_folder: Path, bin_folder: Path) -> Mapping[str, str]:
    """A job is told at once what it prints, as most launchers and containers are set up, unless the case says otherwise."""
    own = {name: _filled(value, set_folder, bin_folder) for name, value in case.env.items()}
    path = os.pathsep.join((str(bin_folder), os.environ.get("PATH", "")))
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return {**inherited, "PYTHONUNBUFFERED": "1", **own, "PATH": path}


def _end_children() -> None:
    """End every descendant of this process; those that are born meanwhile too."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        children = psutil.Process().children(recursive=True)
        if not children:
            return
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(children, timeout=2)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    raise OSError("processes of the job are left")
