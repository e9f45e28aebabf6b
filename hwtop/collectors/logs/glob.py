"""Log glob: which files the patterns of --logs mean now; a pattern on a dead mount holds up no other."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.process.files import read_environ
from hwtop.job.launch.environment import kept, slurm_job_of
from hwtop.job.launch.slurm_template import as_glob, has_specifiers

_EVERY_S = 5.0
_WAIT_S = 0.1
_MOST_FILES = 5000


class Glob:
    """One pattern of --logs, or a template of Slurm (`slurm-%j.out`), looked up again every 5 s: files may come later."""

    def __init__(self, pattern: str, proc: str, now: Callable[[], float]) -> None:
        self.pattern = pattern
        self.pids: Sequence[int] = ()
        """Processes of the job, whose environment fills in a template."""
        self._proc = proc
        self._now = now
        self._search: Abandonable[list[str]] = Abandonable("log-glob", self._expand, now)
        self._found: list[str] = []
        self._at_s: float | None = None

    def paths(self) -> tuple[list[str], str | None]:
        """(files, why there are none or not the newest). Those written last come first."""
        is_due = self._at_s is None or self._now() - self._at_s >= _EVERY_S
        if is_due or self._search.out_for_s() > 0.0:
            try:
                self._found = self._search.poll(_WAIT_S)
                self._at_s = self._now()
            except TimeoutError as error:
                return self._found, f"--logs {self.pattern}: the file system is {error}"
        return self._found, None if self._found else f"--logs {self.pattern}: no such file yet"

    def _expand(self) -> list[str]:
        pattern = str(Path(self.pattern).expanduser())
        found = _files(pattern)
        if not found and has_specifiers(pattern) and (env := self._env()):
            found = _files(as_glob(pattern, env))
        return sorted(found, key=lambda path: -found[path])

    def _env(self) -> dict[str, str]:
        """Of a process that runs in a Slurm job; empty where none does: a template would mean the files of any job."""
        for pid in self.pids:
            with suppress(OSError):
                env = kept(read_environ(f"{self._proc}/{pid}"))
                if slurm_job_of(env) is not None:
                    return env
        return {}


def _files(pattern: str) -> dict[str, float]:
    """Regular files -> when they were written to last."""
    found: dict[str, float] = {}
    for path in glob.iglob(pattern, recursive=True):
        with suppress(OSError):
            if os.path.isfile(path):
                found[os.path.abspath(path)] = os.stat(path).st_mtime
        if len(found) >= _MOST_FILES:
            break
    return found
