"""Log tail: one followed file, through rotation, truncation, deletion and lines of any length."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hwtop.collectors.found_file import FLAGS
from hwtop.collectors.logs.lines import LONGEST_BYTES, LineBuffer, Run, texts
from hwtop.collectors.logs.words import Words
from hwtop.job.log.wrapping import Unwrap, unwrapping

Refusal = Callable[[os.stat_result], "str | None"]
"""Why an open file must not be shown; None: it may be."""
PAST_BYTES = 128 * 1024
"""What is read of a file that is older than hwtop's first reading of it: some 1,300 progress lines, which are judged like later ones
and take a quarter of a second to understand (engineering default)."""
_PAST_TIMES = 4
"""So many times as many lines are kept of the past, which is read once."""
_BLOCK_BYTES = 1 << 20
_COUNTED_BYTES = 4 << 20
"""Line numbers are counted when no more than this stands before the first line that is read."""
_FINGERPRINT_BYTES = 64
_QUIET_READS = 2
"""A last line without its newline is delivered once it has not grown for so many reads: a crashing program's last words."""
_OLD_READS = 60
"""A file that was rotated away and has not grown for so many reads is let go."""
DELETED = " (deleted)"
"""What /proc/PID/fd says behind the name."""
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Byte order marks: what PowerShell's > writes."""


@dataclass(frozen=True)
class RawLine:
    """One line of a file, not yet separated by time."""

    line_no: int | None
    text: str
    is_past: bool


@dataclass
class TailReading:
    """What one read of one file brought."""

    lines: list[RawLine] = field(default_factory=list)
    skipped: int = 0
    read_bytes: int = 0
    size_bytes: int | None = None
    behind_bytes: int = 0
    """In the file already, not read yet."""
    modified_s: float | None = None
    opened_fd: int | None = None
    """Of the file that was opened first, in the reading that holds what was in it."""
    reason: str | None = None


class _Handle:
    """An open file, and where reading stands in it."""

    def __init__(self, fd: int, start: int, line_no: int | None, is_past: bool, words: Words) -> None:
        self.fd = fd
        self.offset = start
        self.is_past = is_past
        self.quiet = 0
        self._words = words
        self._unwrap: Unwrap | None = None
        self._is_known = False
        self._fingerprint = b""
        self._decoder = self._decoder_at(start)
        self._buffer = LineBuffer(words, line_no, is_fragment=start > 0)
        self._buffer.longest_bytes = max(LONGEST_BYTES, PAST_BYTES) if is_past else LONGEST_BYTES

    def identity(self) -> tuple[int, int]:
        status = os.fstat(self.fd)
        return status.st_dev, status.st_ino

    def drain(self, most_lines: int, most_bytes: int) -> tuple[list[RawLine], int, int]:
        """What is new: (lines, skipped lines, bytes read). Reads at most `most_bytes`."""
        self._notice_truncation()
        self._buffer.limit = most_lines
        read = 0
        while read < most_bytes:
            block = os.pread(self.fd, min(_BLOCK_BYTES, most_bytes - read), self.offset)
            if block[:1] == b"\0" and self._skip_hole():
                continue
            if not block:
                break
            read += len(block)
            self.offset += len(block)
            self._fingerprint = (self._fingerprint + block[-_FINGERPRINT_BYTES:])[-_FINGERPRINT_BYTES:]
            self._buffer.feed(self._decoded(block))
        self.quiet = 0 if read else self.quiet + 1
        runs = self._buffer.take()
        last = self._buffer.unfinished(is_still=self.quiet >= _QUIET_READS)
        states = most_lines if self.is_past else 0
        lines = [line for run in (*runs, *([last] if last else ())) for line in self._lines(run, states)]
        skipped, self._buffer.skipped = self._buffer.skipped, 0
        self.is_past, self._buffer.longest_bytes = False, LONGEST_BYTES
        return lines, skipped, read

    def _lines(self, run: Run, states: int) -> list[RawLine]:
        if not self._is_known and run.raw:
            self._is_known = True
            self._unwrap = unwrapping(run.raw.partition(b"\n")[0].decode("utf-8", "replace"))
        found = texts(run, self._words, self._unwrap, states=states)
        return [RawLine(line_no, text, self.is_past) for line_no, text in found]

    def _notice_truncation(self) -> None:
        """The file is shorter, or other bytes stand where we last read: copytruncate, or written again from the start."""
        size = os.fstat(self.fd).st_size
        since = self.offset - len(self._fingerprint)
        if size < self.offset or os.pread(self.fd, len(self._fingerprint), since) != self._fingerprint:
            self.offset, self._fingerprint, self._is_known = 0, b"", False
            self._decoder = self._decoder_at(0)
            self._buffer = LineBuffer(self._words)

    def _skip_hole(self) -> bool:
        """A writer that goes on where it was before its file was truncated leaves a hole, which may be huge."""
        try:
            data = os.lseek(self.fd, self.offset, os.SEEK_DATA)
        except OSError:  # a hole up to the end (ENXIO), or a file system that does not report holes
            return False
        if data <= self.offset:
            return False
        self.offset, self._fingerprint = data, b""
        return True

    def _decoder_at(self, offset: int) -> codecs.IncrementalDecoder | None:
        """Of UTF-16; None for everything that is ASCII where it matters."""
        encoding = _MARKS.get(os.pread(self.fd, 2, 0))
        if encoding is not None and offset % 2:
            self.offset += 1
        return codecs.getincrementaldecoder(encoding)("replace") if encoding else None

    def _decoded(self, block: bytes) -> bytes:
        if self._decoder is None and self.offset == len(block):  # the first of the file, which may have been empty
            self._decoder = self._decoder_at(0)
            block = block.removeprefix(codecs.BOM_UTF8)
        if self._decoder is not None:
            return self._decoder.decode(block).lstrip("\ufeff").encode("utf-8", "replace")
        return block.replace(b"\0", b"") if b"\0" in block else block


class Tail:
    """Follows one path. `read` may block for ever on a dead mount: call it where it can be abandoned.

    `fallbacks` gives other names of the same file, tried when the path cannot be opened (/proc/PID/fd/1 of a deleted file,
    /proc/PID/root/... of a container's).
    """

    def __init__(
        self,
        path: str,
        fallbacks: Callable[[], Sequence[str]],
        words: Words,
        refusal: Refusal = lambda _: None,
    ) -> None:
        self.path = path
        self._fallbacks = fallbacks
        self._refusal = refusal
        self._words = words
        self._handle: _Handle | None = None
        self._previous: _Handle | None = None
        self._name: str | None = None
        self._seen: tuple[int, ...] = ()

    def read(self, most_lines: int, most_bytes: int) -> TailReading:
        """New lines since the last call; on the first call the last `PAST_BYTES`. Reads at most `most_bytes`."""
        reading = TailReading()
        is_new = self._handle is None
        reading.reason = self._open() if is_new else self._follow(reading, most_lines, most_bytes)
        if self._handle is None:
            return reading
        reading.opened_fd = self._handle.fd if is_new else None
        status = os.fstat(self._handle.fd)
        reading.size_bytes, reading.modified_s = status.st_size, status.st_mtime
        seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if seen != self._seen or self._handle.quiet < _QUIET_READS or self._handle.offset != status.st_size:
            limit = _PAST_TIMES * most_lines if self._handle.is_past else most_lines
            self._drain(self._handle, reading, limit, most_bytes)
            self._seen = seen
        reading.behind_bytes = max(0, status.st_size - self._handle.offset)
        return reading

    def close(self) -> None:
        """Release the file."""
        for handle in (self._handle, self._previous):
            if handle is not None:
                os.close(handle.fd)
        self._handle = self._previous = None

    def _drain(self, handle: _Handle, reading: TailReading, most_lines: int, most_bytes: int) -> int:
        lines, skipped, read = handle.drain(most_lines, most_bytes)
        reading.lines.extend(lines)
        reading.skipped += skipped
        reading.read_bytes += read
        return read

    def _open(self) -> str | None:
        problem: OSError | None = None
        for names in (lambda: (self.path,), self._fallbacks):
            for name in names():
                try:
                    status = os.stat(name)
                    if not stat.S_ISREG(status.st_mode):
                        return f"{name} is not a regular file: not followed"
                    fd = os.open(name, FLAGS)
                except OSError as error:
                    problem = problem or error
                    continue
                if (reason := self._refused(fd)) is not None:
                    return f"{name}: {reason}"
                self._name = name
                self._begin(fd)
                return self._deleted(os.fstat(fd))
        return _why(self.path, problem)

    def _refused(self, fd: int) -> str | None:
        """Why the file just opened is not shown; it is closed then. It may be another one than its name meant a moment ago."""
        reason = self._refusal(os.fstat(fd))
        if reason is not None:
            os.close(fd)
        return reason

    def _begin(self, fd: int) -> None:
        size = os.fstat(fd).st_size
        start = max(0, size - PAST_BYTES)
        line_no = 1 if start == 0 else _lines_before(fd, start)
        self._handle = _Handle(fd, start, line_no, is_past=True, words=self._words)

    def _follow(self, reading: TailReading, most_lines: int, most_bytes: int) -> str | None:
        """Notice that the name now means another file."""
        assert self._handle is not None
        self._drain_previous(reading, most_lines, most_bytes)
        try:
            status = os.stat(self._name or self.path)
        except OSError:
            return self._deleted(os.fstat(self._handle.fd), is_gone=True)
        if (status.st_dev, status.st_ino) == self._handle.identity() or not stat.S_ISREG(status.st_mode):
            return self._deleted(os.fstat(self._handle.fd))
        if self._drain(self._handle, reading, most_lines, most_bytes) >= most_bytes:
            return None  # the old one is not read to its end yet
        try:
            fd = os.open(self._name or self.path, FLAGS)
        except OSError as error:
            return _why(self.path, error)
        if (reason := self._refused(fd)) is not None:
            return f"{self.path}: {reason}: the file before is still followed"
        if self._previous is not None:
            os.close(self._previous.fd)
        self._previous, self._handle = self._handle, _Handle(fd, 0, 1, is_past=False, words=self._words)
        return None

    def _drain_previous(self, reading: TailReading, most_lines: int, most_bytes: int) -> None:
        """Its writer may not have noticed the rotation yet."""
        if self._previous is None:
            return
        self._drain(self._previous, reading, most_lines, most_bytes)
        if self._previous.quiet > _OLD_READS:
            os.close(self._previous.fd)
            self._previous = None

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
    if path.endswith(DELETED):
        return "deleted, and no process that has it open is readable: restart the job with > train.log 2>&1"
    if isinstance(error, FileNotFoundError):
        return f"{path} does not exist (yet)"
    return f"cannot read {path}: {error.strerror if error is not None else 'unknown reason'}"
