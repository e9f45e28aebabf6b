"""Log output: from where a process writes to (a file, a pipe, a terminal) to the files that can be read, or why there are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.logs.container import READERS, container_files, container_of
from hwtop.collectors.logs.pipe import SLURMSTEPD, PipeReader, find_reader
from hwtop.collectors.logs.slurm import step_files
from hwtop.model.plan import LogTarget
from hwtop.model.reported.log import LogFile

_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")
_AGAIN_S = 10.0
"""How long an answer holds: a reader may come late, and rotatelogs changes its file."""
_WAIT_S = 0.05
_ATTEMPT = re.compile(r"/attempt_([1-9]\d*)/(\d+)/(?=std(?:out|err)\.log$)")
_START = "start with > train.log 2>&1"


class _Answer(Struct, frozen=True):
    """Where an output that is no file ends up."""

    files: tuple[str, ...] = ()
    reason: str = ""
    reader_pid: int | None = None
    is_named: bool = False

    @property
    def through(self) -> tuple[int, ...]:
        return () if self.reader_pid is None else (self.reader_pid,)


class Output(Struct, frozen=True):
    """A file to follow."""

    path: str
    pids: tuple[int, ...] = ()
    """Processes that write it."""
    through: tuple[int, ...] = ()
    """Other processes that have it open."""
    may_lack: bool = False
    """It is not reported where it does not exist."""
    is_named: bool = False
    """By the person who runs hwtop, or by a container runtime as the log of the job: shown whoever may read it."""


class Outputs:
    """Remembers for each pipe and terminal what was found behind it."""

    def __init__(self, proc: str, now: Callable[[], float], root: str = "") -> None:
        """`root` stands before the places where container runtimes keep logs."""
        self._proc = proc
        self._now = now
        self._root = root
        self._searches: dict[str, Abandonable[_Answer]] = {}
        self._answers: dict[str, tuple[float, _Answer]] = {}

    def resolve(self, targets: Sequence[LogTarget]) -> tuple[list[Output], list[LogFile]]:
        """(files to follow, outputs that cannot be followed with the reason). Waits little: what is not known yet comes later."""
        files: list[Output] = []
        untailed: list[LogFile] = []
        for target in targets:
            reason = _plain_reason(target.path)
            if target.path.startswith(("pipe:", *_TERMINALS)):
                answer = self._answer(target)
                files.extend(
                    Output(path, target.pids, answer.through, is_named=answer.is_named) for path in answer.files
                )
                reason = answer.reason
            elif target.path.startswith("/") and reason is None:
                files.append(Output(target.path, target.pids, may_lack=target.may_lack))
                files.extend(_attempt_before(target.path))
            if reason:
                untailed.append(LogFile(path=target.path, pids=target.pids, size_bytes=None, age_s=None, reason=reason))
        known = {target.path for target in targets}
        for path in self._answers.keys() - known:
            del self._answers[path]
            self._searches.pop(path, None)
        return files, untailed

    def _answer(self, target: LogTarget) -> _Answer:
        known = self._answers.get(target.path)
        if known is not None and self._now() - known[0] < _AGAIN_S:
            return known[1]
        before = known[1] if known is not None else None
        search = self._searches.get(target.path)
        if search is None:
            search = Abandonable("log-output", lambda: self._find(target, before), self._now)
            self._searches[target.path] = search
        try:
            answer = search.poll(_WAIT_S)
        except TimeoutError:
            return before or _Answer(reason="looking for the process that writes it into a file")
        except OSError as error:
            answer = _Answer(
                reason=f"who reads it cannot be found out ({error.strerror}): name its file with --logs GLOB"
            )
        del self._searches[target.path]
        self._answers[target.path] = (self._now(), answer)
        return answer

    def _find(self, target: LogTarget, before: _Answer | None) -> _Answer:
        reader = find_reader(self._proc, target.path, target.pids, before.reader_pid if before else None)
        if reader is not None and reader.files:
            return _Answer(reader.files, reader_pid=reader.pid)
        if target.path.startswith(_TERMINALS):
            what = f"stdout is a terminal ({target.path})"
            return _Answer(reason=f"{what}: nothing to tail; {_START} or | tee train.log")
        if reader is not None and reader.comm == SLURMSTEPD:
            files = step_files(self._proc, reader.pid)
            return _Answer(files, "" if files else _SLURM, reader.pid)
        if reader is None or reader.comm in READERS:
            return self._in_container(target, reader)
        if reader.ends_in.startswith(_TERMINALS):
            what = (
                f"stdout is a pipe to {reader.comm} (PID {reader.pid}), which writes to a terminal ({reader.ends_in})"
            )
            return _Answer(reason=f"{what}: nothing to tail; end it with | tee train.log", reader_pid=reader.pid)
        what = f"stdout is a pipe read by {reader.comm} (PID {reader.pid})"
        return _Answer(reason=f"{what}: name the file it writes with --logs GLOB", reader_pid=reader.pid)

    def _in_container(self, target: LogTarget, reader: PipeReader | None) -> _Answer:
        container = container_of(self._proc, target.pids)
        if container is None:
            return _Answer(
                reason="stdout is a pipe whose reader was not found: it has ended, belongs to another user or runs outside of "
                f"this container; name its file with --logs GLOB, or {_START}"
            )
        files = container_files(container, self._root)
        short = container[:12]
        advice = f"run hwtop as root, or `docker logs -f {short} > out.log` and --logs out.log"
        reason = "" if files else f"stdout goes to the log of container {short}, which is not visible here: {advice}"
        return _Answer(files, reason, reader.pid if reader is not None else None, is_named=True)


_SLURM = (
    "stdout is a pipe to slurmstepd, and srun, which writes it into a file, is not on this machine: name the file with "
    "--logs 'slurm-*.out', or start with srun --output=rank-%t.log"
)


def _plain_reason(path: str) -> str | None:
    if path.startswith("/dev/null"):
        return f"output goes to /dev/null: nothing to tail; {_START}"
    if path.startswith("socket:"):
        advice = "under systemd `journalctl -f > out.log` and --logs out.log"
        return f"stdout is a {path}: nothing to tail; {_START}; {advice}"
    return None


def _attempt_before(path: str) -> Iterator[Output]:
    """What the same worker of torchrun wrote before it was started again, which is why it was."""
    found = _ATTEMPT.search(path)
    if found is not None:
        folder = f"{path[: found.start()]}/attempt_{int(found[1]) - 1}/{found[2]}"
        yield from (Output(f"{folder}/{name}.log", may_lack=True) for name in ("stdout", "stderr"))
