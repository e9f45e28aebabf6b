"""Starts real training jobs (the scripts of tests/jobs and hwtop/demo/jobs, or any other) and leaves nothing of them behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from hwtop.demo import catalogue

FOLDERS: tuple[Path, ...] = (Path(__file__).parent / "jobs", catalogue.JOBS)
"""Of the jobs of one file: those of the tests, and those that `hwtop demo` runs as well."""
MARKER = "HWTOP_TEST_JOB"
POLL_S = 0.1
GRACE_S = 60.0


def job_file(name: str) -> Path:
    """The job of one file that is called so; FileNotFoundError where there is none."""
    for folder in FOLDERS:
        if (path := folder / f"{name}.py").exists():
            return path
    raise FileNotFoundError(f"no job {name!r} in {' or '.join(map(str, FOLDERS))}")


class TrainingJob:
    """One started job. Leaving the context ends every process that carries its mark in the environment.

    A mark is needed because torchrun gives each rank a session, hence a process group, of its own.
    """

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str], logs: str) -> None:
        """Start `command` in `folder`; its own output goes to `folder`/launcher.log.

        Args:
            command: what to run.
            folder: where it runs and writes.
            env: variables on top of this process's own.
            logs: the glob of its log files.
        """
        self.folder, self.logs = folder, logs
        self._mark = f"{MARKER}={uuid.uuid4().hex}"
        name, value = self._mark.split("=")
        with (folder / "launcher.log").open("wb") as log:
            self._launcher = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **env, name: value},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def launcher_pid(self) -> int:
        """PID of what was started."""
        return self._launcher.pid

    def rank_pids(self) -> dict[int, int]:
        """Rank number -> PID, of the ranks that run (or are zombies with their environment gone: those are absent)."""
        ranks: dict[int, int] = {}
        for pid in sorted(self.pids()):
            rank = environment(pid).get("RANK")
            if rank is not None:
                ranks.setdefault(int(rank), pid)  # loader workers carry the variable too, but started later
        return ranks

    def has_ended(self) -> bool:
        """Whether what was started is gone; processes that it started may still run."""
        return self._launcher.poll() is not None

    def pids(self) -> set[int]:
        """All processes of the job that still run."""
        mark = self._mark.encode()
        return {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if mark in raw_environment(pid)}

    def text(self) -> str:
        """What its log files hold by now, one after the other, and what the launcher printed."""
        files = [*sorted(self.folder.glob(self.logs)), self.folder / "launcher.log"]
        return "\n".join(file.read_text(errors="replace") for file in dict.fromkeys(files))

    def wait_for_line(self, regex: str, timeout_s: float = 90.0) -> str:
        """The first line of any of its logs that the expression matches somewhere.

        Raises:
            TimeoutError: there is none after `timeout_s`; holds the end of the logs.
        """
        pattern = re.compile(regex, re.MULTILINE)
        deadline = time.monotonic() + timeout_s
        while (match := pattern.search(text := self.text())) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"no line like {regex!r} within {timeout_s:.0f} s; the logs end with:\n{text[-3000:]}"
                )
            time.sleep(POLL_S)
        return text[text.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0]

    def stop(self) -> None:
        """End the job: SIGKILL to each of its processes, until there is none. Fails where one survives."""
        deadline = time.monotonic() + GRACE_S
        while pids := self.pids():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the job's processes {sorted(pids)} cannot be ended")
            for pid in pids:
                kill(pid)
            time.sleep(POLL_S / 5)
        self._launcher.wait()

    def __enter__(self) -> TrainingJob:  # noqa: PYI034  # not made to be subclassed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_torchrun(
    script: Path,
    tmp_path: Path,
    *,
    nproc: int = 2,
    is_redirected: bool = True,
    env: Mapping[str, str] | None = None,
) -> TrainingJob:
    """Run a script under `torchrun --standalone`.

    Args:
        script: the training script.
        tmp_path: where it runs.
        nproc: how many ranks.
        is_redirected: a log folder with one stdout.log and stderr.log a rank (`--redirects 3 --log-dir`); else all ranks
            share the launcher's plain file, which is what `torchrun ... > train.log` makes.
        env: more environment variables.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(nproc)]
    if is_redirected:
        command += ["--redirects", "3", "--log-dir", str(tmp_path / "logs")]
    return TrainingJob(
        [*command, str(script)],
        tmp_path,
        {"PYTHONUNBUFFERED": "1", **(env or {})},
        "logs/*/attempt_*/*/*.log" if is_redirected else "launcher.log",
    )


def start_python(
    script: Path, tmp_path: Path, *arguments: str, logs: str = "*.log", env: Mapping[str, str] | None = None
) -> TrainingJob:
    """Run a script with plain python, e.g. one that starts its own ranks; `logs` is the glob of what those write."""
    return TrainingJob([sys.executable, "-u", str(script), *arguments], tmp_path, env or {}, logs)


def raw_environment(pid: int) -> bytes:
    """The environment that a process was started with; empty for a zombie and for one that is gone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def environment(pid: int) -> dict[str, str]:
    """The same as a dict."""
    pairs = (item.decode(errors="replace").partition("=") for item in raw_environment(pid).split(b"\0") if item)
    return {name: value for name, _, value in pairs}


def kill(pid: int) -> None:
    """SIGKILL to a process that may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
