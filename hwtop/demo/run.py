"""Starts a demo job and ends it without a trace."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

import hwtop
from hwtop.demo.scenarios import Scenario

GRACE_S = 3.0
"""Between SIGTERM and SIGKILL."""
POLL_S = 0.02
TRAIN = Path(__file__).parent / "train"


def has_torch() -> bool:
    """Whether torch is installed, without the seconds that importing it takes."""
    return importlib.util.find_spec("torch") is not None


class DemoJob:
    """One running demo job: a launcher that leads a process group of its own, and its ranks.

    Leaving the context stops it. It also ends by itself when the process that started it ends, however that happens.
    """

    def __init__(
        self,
        scenario: Scenario,
        log_dir: Path,
        *,
        rank_count: int = 2,
        is_stdlib_forced: bool = False,
        root: Path = Path("/proc"),
    ) -> None:
        """Nothing is started yet.

        Args:
            scenario: what to run.
            log_dir: an existing folder of which the job may write all it wants to.
            rank_count: how many ranks.
            is_stdlib_forced: do not use torch where it is installed.
            root: where proc(5) is mounted.
        """
        self._scenario, self._log_dir, self._rank_count, self._root = scenario, log_dir.resolve(), rank_count, root
        self.uses_torch = scenario.has_torch_trainer and not is_stdlib_forced and has_torch()
        self.log_glob = str(self._log_dir / "rank_*.log")
        self._launcher: subprocess.Popen[bytes] | None = None

    @property
    def launcher_pid(self) -> int:
        """PID of the launcher; RuntimeError while the job does not run."""
        if self._launcher is None:
            raise RuntimeError("the demo job is not started")
        return self._launcher.pid

    def start(self) -> int:
        """Start the job; the launcher's PID. Call once."""
        command = [sys.executable, "-u", "-m", "hwtop.demo.launcher"]
        command += ["--log-dir", str(self._log_dir), "--parent", str(os.getpid()), *self._what_to_run()]
        script = self._scenario.script
        package_parent = str(Path(hwtop.__file__).resolve().parent.parent)
        folders = (str(self._log_dir), package_parent, os.environ.get("PYTHONPATH"))
        path = os.pathsep.join(folder for folder in folders if folder)
        with (self._log_dir / "launcher.log").open("wb") as log:
            self._launcher = subprocess.Popen(
                command,
                cwd=self._log_dir,
                env={**os.environ, "PYTHONPATH": path, **(dict(script.env) if script else {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self._launcher.pid

    def _what_to_run(self) -> list[str]:
        """Arguments of the launcher. All runs as a copy in the job's folder, as the user's own code that it stands for."""
        script = self._scenario.script
        if script is None:
            shutil.copytree(TRAIN, self._log_dir / TRAIN.name, ignore=shutil.ignore_patterns("__pycache__"))
            trainer = f"{TRAIN.name}.torch_trainer" if self.uses_torch else f"{TRAIN.name}.trainer"
            return ["--nproc", str(self._rank_count), trainer, *self._scenario.arguments]
        copy = str(shutil.copy(script.path, self._log_dir))
        return ["--nproc", str(script.rank_count), copy]

    def stop(self) -> None:
        """End every process of the job: SIGTERM, and SIGKILL to what is left after three seconds.

        Only the group that the launcher leads is signalled. The launcher is reaped last, so its number cannot belong to
        anybody else meanwhile. Does nothing when the job was not started or is already stopped.

        Raises:
            TimeoutError: a process survives even SIGKILL (uninterruptible sleep).
        """
        if self._launcher is None:
            return
        group = self._launcher.pid
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal(group, number)
            self._signal(group, signal.SIGCONT)  # a stopped process cannot act on SIGTERM
            if self._wait_until_empty(group):
                self._launcher.wait()
                self._launcher = None
                return
        raise TimeoutError(f"the demo job cannot be ended: PIDs {self.members(group)}")

    def members(self, group: int) -> list[int]:
        """PIDs of the group that still run; zombies do not."""
        if not (self._root / "self" / "stat").exists():
            return [] if self._launcher is None or self._launcher.poll() is not None else [group]
        return [pid for pid in map(int, filter(str.isdigit, os.listdir(self._root))) if self._runs_in(pid, group)]

    def _runs_in(self, pid: int, group: int) -> bool:
        try:
            stat = (self._root / str(pid) / "stat").read_text(errors="replace")
        except OSError:  # ended meanwhile
            return False
        state, _ppid, pgrp = stat.rpartition(")")[2].split()[:3]
        return int(pgrp) == group and state not in "ZX"

    @staticmethod
    def _signal(group: int, number: signal.Signals) -> None:
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):  # all gone; macOS says EPERM when only zombies are left
            return

    def _wait_until_empty(self, group: int) -> bool:
        deadline = time.monotonic() + GRACE_S
        while self.members(group):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        return True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
