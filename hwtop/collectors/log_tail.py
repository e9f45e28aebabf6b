"""Log tail: one followed file, through rotation, truncation, deletion and lines of any length."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hwtop.job.log_text import clean

PAST_BYTES = 64 * 1024
"""What is read of a file that is older than hwtop's look at it."""
LONGEST_CHARS = 16_384
_LONGEST_BYTES = 4 * LONGEST_CHARS
_BLOCK_BYTES = 1 << 18
_MOST_BYTES = 16 << 20
"""Of one read; what is left is read at the next tick."""
_COUNTED_BYTES = 16 << 20
"""Line numbers are counted when no more than this stands before the first line that is read."""
_FINGERPRINT_BYTES = 64
_QUIET_READS = 2
"""A last line without its newline is told once it has not grown for so many reads: a crashing program's last words."""


@dataclass(frozen=True)
class RawLine:
    """One line of a file, not yet told apart by time."""

    line_no: int | None
    text: str
    is_past: bool


@dataclass
class TailReading:
    """What one read of one file brought."""

    lines: list[RawLine] = field(default_factory=list)
    skipped: int = 0
    size_bytes: int | None = None
    modified_s: float | None = None
    reason: str | None = None


class Flood:
    """Keeps the newest `limit` lines, and of the others those that `matters` picks (at most `limit` too)."""

    def __init__(self, limit: int, matters: Callable[[list[bytes]], Iterable[int]]) -> None:
        self._limit = limit
        self._matters = matters
        self._newest: deque[tuple[int | None, bytes, bool]] = deque()
        self._picked: list[tuple[int | None, bytes, bool]] = []
        self.skipped = 0

    def add(self, line_no: int | None, raw: bytes, is_past: bool) -> None:
        """Take one line; its bytes are without the newline."""
        self._newest.append((line_no, raw, is_past))
        if len(self._newest) >= 2 * self._limit:
            self._thin()

    def lines(self) -> list[tuple[int | None, bytes, bool]]:
        """What is kept, in the file's order."""
        if len(self._newest) > self._limit:
            self._thin()
        return [*self._picked, *self._newest]

    def _thin(self) -> None:
        old = [self._newest.popleft() for _ in range(len(self._newest) - self._limit)]
        picked = [old[index] for index in self._matters([raw for _, raw, _ in old])]
        picked = picked[: max(0, self._limit - len(self._picked))]
        self._picked.extend(picked)
        self.skipped += len(old) - len(picked)


class _Handle:
    """An open file: where reading stands in it, and the line that has no end yet."""

    def __init__(self, fd: int, start: int, line_no: int | None, is_past: bool) -> None:
        self.fd = fd
        self.offset = start
        self.line_no = line_no
        self.is_past = is_past
        self.skip_first = line_no is None or start > 0
        self._pending = b""
        self._is_cut = False
        self._told = b""
        self._quiet = 0
        self._fingerprint = b""

    def identity(self) -> tuple[int, int]:
        status = os.fstat(self.fd)
        return status.st_dev, status.st_ino

    def drain(self, flood: Flood) -> None:
        """Read what is new. Never more than `_MOST_BYTES`."""
        self._notice_truncation()
        left = _MOST_BYTES
        grew = False
        while left > 0:
            block = os.pread(self.fd, min(_BLOCK_BYTES, left), self.offset)
            if not block:
                break
            grew = True
            left -= len(block)
            self.offset += len(block)
            self._fingerprint = (self._fingerprint + block)[-_FINGERPRINT_BYTES:]
            self._split(block, flood)
        self._tell_unfinished(grew, flood)
        self.is_past = False

    def _notice_truncation(self) -> None:
        """The file is shorter, or other bytes stand where we last read: copytruncate, or written anew from the start."""
        size = os.fstat(self.fd).st_size
        since = self.offset - len(self._fingerprint)
        if size < self.offset or os.pread(self.fd, len(self._fingerprint), since) != self._fingerprint:
            self.offset, self.line_no = 0, 1
            self._pending, self._fingerprint, self._told, self._is_cut = b"", b"", b"", False
            self.skip_first = False

    def _split(self, block: bytes, flood: Flood) -> None:
        *ended, rest = block.split(b"\n")
        for part in ended:
            whole = self._pending + part
            self._pending, self._is_cut = b"", False
            raw = self._after_cut(whole) if self.skip_first else whole
            if raw is not None and not (self._told and raw == self._told):
                flood.add(self.line_no, raw[:_LONGEST_BYTES] if b"\r" not in raw else raw, self.is_past)
            self._told = b""
            if self.line_no is not None:
                self.line_no += 1
        if not self._is_cut:
            self._pending += rest
        if self.skip_first and b"\r" in self._pending:
            self._pending = self._after_cut(self._pending) or b""
        if len(self._pending) > _LONGEST_BYTES:
            self._shorten()

    def _after_cut(self, raw: bytes) -> bytes | None:
        """Reading began in the middle of this line: only what follows a carriage return is whole."""
        self.skip_first = False
        _, returned, rest = raw.partition(b"\r")
        return b"\r" + rest if returned else None

    def _shorten(self) -> None:
        """A bar redraws its line for ever and only its last states matter; of any other endless line the start is kept."""
        if b"\r" in self._pending:
            self._pending = b"\r".join(self._pending.rsplit(b"\r", 2)[-2:])
        if len(self._pending) > _LONGEST_BYTES:
            self._pending, self._is_cut = self._pending[:_LONGEST_BYTES], True

    def _tell_unfinished(self, grew: bool, flood: Flood) -> None:
        self._quiet = 0 if grew else self._quiet + 1
        pending = self._pending
        if not pending or pending == self._told or self.skip_first:
            return
        if b"\r" in pending or self._quiet >= _QUIET_READS:
            flood.add(self.line_no, pending, self.is_past)
            self._told = pending


class Tail:
    """Follows one path. `read` may block for ever on a dead mount: call it where it can be abandoned.

    `fallbacks`: other names of the same file, tried when the path cannot be opened (/proc/PID/fd/1 of a deleted file,
    /proc/PID/root/... of a container's).
    """

    def __init__(
        self,
        path: str,
        fallbacks: tuple[str, ...],
        matters: Callable[[list[bytes]], Iterable[int]],
    ) -> None:
        self.path = path
        self.fallbacks = fallbacks
        self.line_limit = 20_000
        self._matters = matters
        self._handle: _Handle | None = None
        self._previous: _Handle | None = None
        self._name: str | None = None

    def read(self) -> TailReading:
        """New lines since the last call; on the first call the last 64 KiB."""
        flood = Flood(self.line_limit, self._matters)
        reason = self._follow(flood) if self._handle is not None else self._open()
        reading = TailReading(reason=reason)
        if self._handle is not None:
            self._handle.drain(flood)
            status = os.fstat(self._handle.fd)
            reading.size_bytes, reading.modified_s = status.st_size, status.st_mtime
        for line_no, raw, is_past in flood.lines():
            text = clean(raw.decode("utf-8", "replace"))[:LONGEST_CHARS]
            reading.lines.append(RawLine(line_no, text, is_past))
        reading.skipped = flood.skipped
        return reading

    def close(self) -> None:
        """Let go of the file."""
        for handle in (self._handle, self._previous):
            if handle is not None:
                os.close(handle.fd)
        self._handle = self._previous = None

    def _open(self) -> str | None:
        problem: OSError | None = None
        for name in (self.path, *self.fallbacks):
            try:
                status = os.stat(name)
                if not stat.S_ISREG(status.st_mode):
                    return f"{name} is no regular file: not followed"
                fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
            except OSError as error:
                problem = problem or error
                continue
            self._name = name
            self._begin(fd)
            return self._deleted(os.fstat(fd))
        return _why(self.path, problem)

    def _begin(self, fd: int) -> None:
        size = os.fstat(fd).st_size
        start = max(0, size - PAST_BYTES)
        line_no = 1 if start == 0 else _lines_before(fd, start)
        self._handle = _Handle(fd, start, line_no, is_past=True)

    def _follow(self, flood: Flood) -> str | None:
        """Notice that the name now means another file."""
        assert self._handle is not None
        if self._previous is not None:
            self._previous.drain(flood)
        try:
            status = os.stat(self._name or self.path)
        except OSError:
            return self._deleted(os.fstat(self._handle.fd), is_gone=True)
        if (status.st_dev, status.st_ino) == self._handle.identity() or not stat.S_ISREG(status.st_mode):
            return self._deleted(os.fstat(self._handle.fd))
        self._handle.drain(flood)
        try:
            fd = os.open(self._name or self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError as error:
            return _why(self.path, error)
        if self._previous is not None:
            os.close(self._previous.fd)
        self._previous, self._handle = self._handle, _Handle(fd, 0, 1, is_past=False)
        return None

    def _deleted(self, status: os.stat_result, is_gone: bool = False) -> str | None:
        if status.st_nlink == 0:
            return "deleted while the job writes to it: still followed, but its text is lost when the job ends"
        return "renamed: the old file is still followed until a new one appears" if is_gone else None


def _lines_before(fd: int, start: int) -> int | None:
    """Number of the line that `start` stands in; None when the part before is too long to count."""
    if start > _COUNTED_BYTES:
        return None
    count, at = 1, 0
    while at < start:
        block = os.pread(fd, min(_BLOCK_BYTES, start - at), at)
        if not block:
            break
        count += block.count(b"\n")
        at += len(block)
    return count


def _why(path: str, error: OSError | None) -> str:
    if isinstance(error, PermissionError):
        return f"no permission to read {path}: run hwtop as the user who owns it, or: sudo chmod a+r {path}"
    if isinstance(error, FileNotFoundError):
        return f"{path} does not exist (yet)"
    return f"cannot read {path}: {error.strerror if error is not None else 'unknown reason'}"
