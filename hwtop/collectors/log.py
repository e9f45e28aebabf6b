"""Logs: the new lines of all files that the job writes its output to, and of those named by --logs."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.log_pipe import PipeReader, find_reader
from hwtop.collectors.log_tail import Tail, TailReading
from hwtop.job.patterns.registry import builtin
from hwtop.model.aim import Aim, LogTarget
from hwtop.model.log import LogFile, LogLine, LogReading

_GLOB_EVERY_S = 5.0
_DELETED = " (deleted)"
_TOGETHER_S = 0.15
"""Time that all files together get in one read: well under the sampler's 40 % of an interval."""
_KEEP_S = 60.0
"""A file that the job no longer has open is followed for this long: a crash writes last."""
_MOST_FILES = 256
_PIPE_EVERY_S = 30.0


@dataclass
class _Followed:
    """One file with the thread that reads it."""

    pids: tuple[int, ...]
    tail: Tail
    reader: Abandonable[TailReading]
    wanted_at_s: float
    size_bytes: int | None = None
    modified_s: float | None = None


class LogSource:
    """Follows `aim.logs` and the globs. A file that blocks or fails is a reason in its LogFile, nothing else."""

    name = "logs"
    every_s = 0.0

    def __init__(
        self,
        *,
        globs: tuple[str, ...] = (),
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        proc: str = "/proc",
        line_limit: int = 20_000,
    ) -> None:
        self._globs = globs
        self._now = now
        self._wall = wall
        self._proc = proc
        self._line_limit = line_limit
        self._literals = tuple(literal.encode() for literal in builtin().literals())
        self._targets: tuple[LogTarget, ...] = ()
        self._followed: dict[str, _Followed] = {}
        self._untailed: dict[str, LogFile] = {}
        self._pipes: dict[str, Abandonable[PipeReader | None]] = {}
        self._readers: dict[str, tuple[float, PipeReader | None]] = {}
        self._globbing: Abandonable[list[str]] = Abandonable("log-globs", self._expand, now)
        self._globbed: list[str] = []
        self._globbed_at_s: float | None = None

    def probe(self) -> str | None:
        """Always able to run."""
        return None

    def aim(self, aim: Aim) -> None:
        """Take the files that the job's processes have open as output."""
        self._targets = aim.logs

    def close(self) -> None:
        """Let go of the files; one whose read hangs is left to its thread."""
        for followed in self._followed.values():
            if followed.reader.out_for_s() == 0.0:
                followed.tail.close()

    def read(self) -> LogReading:
        """New lines of all files. Waits at most 0.15 s for all of them together."""
        at_s = self._now()
        missing: dict[str, str] = {}
        wanted = self._wanted(at_s, missing)
        if not wanted and not self._untailed:
            missing["files"] = "no log file known: name it with --logs GLOB"
        self._choose(wanted, at_s, missing)
        files: list[LogFile] = []
        lines: list[LogLine] = []
        skipped = 0
        for path, reading in self._poll_all(at_s + _TOGETHER_S).items():
            followed = self._followed[path]
            skipped += reading.skipped
            files.append(self._file(path, followed, reading))
            lines.extend(
                LogLine(path=path, line_no=line.line_no, text=line.text, at_s=at_s, is_past=line.is_past)
                for line in reading.lines
            )
        files.extend(self._untailed.values())
        return LogReading(at_s=at_s, files=tuple(files), lines=tuple(lines), skipped_lines=skipped, missing=missing)

    def _wanted(self, at_s: float, missing: dict[str, str]) -> dict[str, LogTarget]:
        wanted: dict[str, LogTarget] = {}
        self._untailed = {}
        for target in self._targets:
            resolved = self._resolve(target)
            if resolved is not None:
                before = wanted.get(resolved.path)
                pids = resolved.pids if before is None else tuple(dict.fromkeys((*before.pids, *resolved.pids)))
                wanted[resolved.path] = LogTarget(path=resolved.path, pids=pids)
        for path in self._matching(at_s, missing):
            wanted.setdefault(path, LogTarget(path=path))
        return wanted

    def _resolve(self, target: LogTarget) -> LogTarget | None:
        """The file behind a target; None, with a LogFile that says why, when there is none."""
        path = target.path
        if path.startswith("/dev/null"):
            return self._no_tail(target, "output goes to /dev/null: nothing to tail; start with > train.log 2>&1")
        if path.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
            advice = "nothing to tail; start with > train.log 2>&1 or | tee train.log"
            return self._no_tail(target, f"stdout is a terminal ({path}): {advice}")
        if path.startswith("socket:"):
            return self._no_tail(target, f"stdout is a {path}: nothing to tail; start with > train.log 2>&1")
        if path.startswith("pipe:"):
            return self._behind_pipe(target)
        if path.endswith(_DELETED) and path[: -len(_DELETED)] in self._followed:
            # its tail still holds the deleted file open: the same lines must not come twice
            return LogTarget(path=path[: -len(_DELETED)], pids=target.pids)
        return target if path.startswith("/") else None

    def _behind_pipe(self, target: LogTarget) -> LogTarget | None:
        reader = self._reader_of(target)
        if reader is None:
            return self._no_tail(target, "stdout is a pipe whose reader was not found: name its file with --logs GLOB")
        if reader.file is not None:
            return LogTarget(path=reader.file, pids=target.pids)
        advice = "name the file it writes with --logs GLOB"
        return self._no_tail(target, f"stdout is a pipe read by {reader.comm} (PID {reader.pid}): {advice}")

    def _reader_of(self, target: LogTarget) -> PipeReader | None:
        """Looked up once; again after 30 s while there is none."""
        known = self._readers.get(target.path)
        if known is not None and (known[1] is not None or self._now() - known[0] < _PIPE_EVERY_S):
            return known[1]
        search = self._pipes.setdefault(
            target.path,
            Abandonable("log-pipe", lambda: find_reader(self._proc, target.path, target.pids), self._now),
        )
        try:
            reader = search.poll(0.05)
        except (TimeoutError, OSError):
            return None
        self._readers[target.path] = (self._now(), reader)
        return reader

    def _no_tail(self, target: LogTarget, reason: str) -> LogTarget | None:
        self._untailed[target.path] = LogFile(
            path=target.path, pids=target.pids, size_bytes=None, age_s=None, reason=reason
        )
        return None

    def _matching(self, at_s: float, missing: dict[str, str]) -> Sequence[str]:
        """Paths that the globs match, looked up anew every 5 s."""
        if not self._globs:
            return ()
        is_due = self._globbed_at_s is None or at_s - self._globbed_at_s >= _GLOB_EVERY_S
        if is_due or self._globbing.out_for_s() > 0.0:
            try:
                self._globbed = self._globbing.poll(0.1)
                self._globbed_at_s = at_s
            except TimeoutError as error:
                missing["globs"] = f"--logs: the file system is {error}"
        if not self._globbed and "globs" not in missing:
            missing["globs"] = f"--logs {' '.join(self._globs)}: no such file yet"
        return self._globbed

    def _expand(self) -> list[str]:
        paths: dict[str, None] = {}
        for pattern in self._globs:
            found = sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True))
            paths.update(dict.fromkeys(os.path.abspath(path) for path in found if os.path.isfile(path)))
        return list(paths)

    def _choose(self, wanted: dict[str, LogTarget], at_s: float, missing: dict[str, str]) -> None:
        for path, target in wanted.items():
            followed = self._followed.get(path)
            if followed is not None:
                followed.wanted_at_s, followed.pids = at_s, target.pids
            elif len(self._followed) < _MOST_FILES:
                self._followed[path] = self._follow(target, at_s)
            else:
                missing["files"] = f"only {_MOST_FILES} of {len(wanted)} log files are followed"
        for path, followed in list(self._followed.items()):
            if at_s - followed.wanted_at_s > _KEEP_S and followed.reader.out_for_s() == 0.0:
                followed.tail.close()
                del self._followed[path]

    def _follow(self, target: LogTarget, at_s: float) -> _Followed:
        path = target.path
        fallbacks: list[str] = []
        for pid in target.pids[:4]:
            if path.endswith(_DELETED):
                fallbacks.extend(f"{self._proc}/{pid}/fd/{fd}" for fd in self._fds_of(pid, path))
            else:
                fallbacks.append(f"{self._proc}/{pid}/root{path}")
        tail = Tail(path, tuple(fallbacks), self._matters)
        return _Followed(target.pids, tail, Abandonable("log", tail.read, self._now), at_s)

    def _fds_of(self, pid: int, path: str) -> list[str]:
        names = []
        for fd in ("1", "2"):
            with suppress(OSError):
                if os.readlink(f"{self._proc}/{pid}/fd/{fd}") == path:
                    names.append(fd)
        return names

    def _matters(self, raws: list[bytes]) -> list[int]:
        """Which lines of a flood hold a literal of a pattern."""
        lowered = [raw.lower() for raw in raws]
        text = b"\n".join(lowered)
        literals = [literal for literal in self._literals if literal in text]
        if not literals:
            return []
        return [index for index, line in enumerate(lowered) if any(literal in line for literal in literals)]

    def _poll_all(self, until_s: float) -> dict[str, TailReading]:
        """All files at once; one that was still out from an earlier tick is looked at but not waited for."""
        limit = max(500, self._line_limit // max(1, len(self._followed)))
        readings: dict[str, TailReading] = {}
        waiting: list[str] = []
        for path, followed in self._followed.items():
            was_out = followed.reader.out_for_s() > 0.0
            followed.tail.line_limit = limit
            readings[path], is_late = self._poll(followed, 0.0)
            if is_late and not was_out:
                waiting.append(path)
        for path in waiting:
            readings[path], _ = self._poll(self._followed[path], max(0.0, until_s - self._now()))
        return readings

    def _poll(self, followed: _Followed, deadline_s: float) -> tuple[TailReading, bool]:
        """(reading, still out)."""
        try:
            reading = followed.reader.poll(deadline_s)
        except TimeoutError as error:
            return TailReading(reason=f"file system {error}"), True
        except OSError as error:
            return TailReading(reason=f"cannot read: {error.strerror or error}"), False
        if reading.size_bytes is not None:
            followed.size_bytes, followed.modified_s = reading.size_bytes, reading.modified_s
        return reading, False

    def _file(self, path: str, followed: _Followed, reading: TailReading) -> LogFile:
        modified_s = followed.modified_s
        return LogFile(
            path=path,
            pids=followed.pids,
            size_bytes=followed.size_bytes,
            age_s=None if modified_s is None else max(0.0, self._wall() - modified_s),
            reason=reading.reason,
        )
