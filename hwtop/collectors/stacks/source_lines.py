"""Text of the source lines that user frames stand at.

Read through /proc/PID/root (or /proc/PID/cwd), so a container's files are found as the job sees them. A file is read once,
however many ranks run it; one on a dead mount costs a thread that is abandoned, and frames without their text.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import psutil
from msgspec.structs import replace

from hwtop.collectors.batch import Batch
from hwtop.collectors.found_file import open_found, unreadable_for
from hwtop.collectors.host.system import CLOCK_TICKS_PER_S
from hwtop.collectors.process.files import read_stat, read_status
from hwtop.job.hang.lock_source import held_at
from hwtop.job.hang.locks import lock_wait
from hwtop.job.secrets import masked_text
from hwtop.job.stacks.frames import is_user_frame, training_thread
from hwtop.model.stack import StackDump, StackFrame

READ_DEADLINE_S = 0.2
"""For all new files of one stack together; what comes later is there for the next stack."""
MOST_BYTES = 2 << 20
"""A longer file is no source that the user wrote."""
_MOST_FILES = 256
_MOST_SEEN = 8192
"""Files of processes whose answer is remembered; with 512 ranks 16 files each."""
_MOST_FRAMES = 50_000
_WIDTH = 200
"""Characters of a line that are kept."""
_SLACK_S = 2.0
"""The boot time is whole seconds, and moves when the clock is set."""
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_BRACKETS = re.compile(r"[()\[\]{},]")

_Lines = tuple[str, ...]


class _File(NamedTuple):
    """One source file as one process sees it."""

    pid: int
    start_ticks: int
    filename: str


class SourceLines:
    """Fills `StackFrame.code`. Safe to use from several threads; a call takes at most `READ_DEADLINE_S`, nearly always none."""

    def __init__(
        self,
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
        boot_time: Callable[[], float] = psutil.boot_time,
    ) -> None:
        self._boot_time = boot_time
        self._proc = proc
        self._lock = threading.Lock()
        self._batch: Batch[_File] = Batch("source", self._read, now)
        self._files: OrderedDict[_File, _Lines | None] = OrderedDict()
        """None: there is no such file, or it is not the one that runs."""
        self._texts: OrderedDict[tuple[int, int, int, int], _Lines] = OrderedDict()
        """(device, inode, size, time of the last change) -> its lines."""
        self._frames: dict[tuple[_File, StackFrame], StackFrame] = {}

    def with_code(self, frames: tuple[StackFrame, ...], pid: int) -> tuple[StackFrame, ...]:
        """The same frames, those of user code with the text of their line where it can be had."""
        start_ticks = self._start_ticks(pid)
        if start_ticks is None:
            return frames
        files = {frame: _File(pid, start_ticks, frame.filename) for frame in frames if _has_file(frame)}
        with self._lock:
            wanted = [file for file in dict.fromkeys(files.values()) if file not in self._files]
            if wanted:
                self._batch.run(wanted, READ_DEADLINE_S)
            return tuple(self._with_line(frame, files[frame]) if frame in files else frame for frame in frames)

    def dump_with_code(self, dump: StackDump) -> StackDump:
        """The same dump; its training thread and the thread that holds the interpreter lock with their lines.

        All threads have theirs while the training thread waits for a lock: any of them may hold it.
        """
        trains = training_thread(dump)
        if trains is None:
            return dump
        read = replace(trains, frames=self.with_code(trains.frames, dump.pid))
        waits = lock_wait(read) is not None
        threads = (
            read
            if thread is trains
            else replace(thread, frames=self.with_code(thread.frames, dump.pid))
            if waits or thread.owns_gil
            else thread
            for thread in dump.threads
        )
        return replace(dump, threads=tuple(threads))

    def _with_line(self, frame: StackFrame, file: _File) -> StackFrame:
        key = (file, frame)
        known = self._frames.get(key)
        if known is not None:
            return known
        if file not in self._files:  # it could not be read in time
            return frame
        lines = self._files[file] or ()
        code = _shown(lines[frame.line - 1]) if 0 < frame.line <= len(lines) else None
        if len(self._frames) >= _MOST_FRAMES:
            self._frames.clear()
        self._frames[key] = replace(frame, code=code, holds=held_at(lines, frame.line))
        return self._frames[key]

    def _read(self, file: _File) -> None:
        """In the batch's thread: may block for ever, leaves its answer behind."""
        try:
            lines = self._lines(file)
        except (OSError, RuntimeError, ValueError):  # psutil raises RuntimeError where the boot time is hidden
            lines = None
        self._files[file] = lines
        while len(self._files) > _MOST_SEEN:
            self._files.popitem(last=False)

    def _lines(self, file: _File) -> _Lines | None:
        where = f"root{file.filename}" if file.filename.startswith("/") else f"cwd/{file.filename}"
        of_process = f"{self._proc}/{file.pid}"
        # a program may name any file as its source: compile(text, "/etc/shadow")
        fd = open_found(f"{of_process}/{where}", read_status(of_process).uid, unreadable_for)
        with os.fdopen(fd, "rb") as source:
            status = os.fstat(fd)
            changed_s = max(status.st_mtime, status.st_ctime)
            if status.st_size > MOST_BYTES or changed_s > self._started_s(file):
                return None
            key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if key not in self._texts:
                text = source.read(MOST_BYTES).decode("utf-8", "replace")
                self._texts[key] = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
                while len(self._texts) > _MOST_FILES:
                    self._texts.popitem(last=False)
            return self._texts[key]

    def _started_s(self, file: _File) -> float:
        """When the process started, on the clock of files, with the slack in its favour."""
        return self._boot_time() + file.start_ticks / CLOCK_TICKS_PER_S + _SLACK_S

    def _start_ticks(self, pid: int) -> int | None:
        try:
            return read_stat(f"{self._proc}/{pid}").start_ticks
        except OSError:
            return None


def _has_file(frame: StackFrame) -> bool:
    return frame.line > 0 and not frame.filename.startswith("<") and is_user_frame(frame)


def _shown(line: str) -> str | None:
    """Without its margins, cut to a width. None for an empty line, and for one with a string that may be a secret.

    A secret in source code is a string literal: `tokens = batch.cuda()` hides nothing.
    """
    code = line.strip()[:_WIDTH]
    if not code:
        return None
    parts = (code, *_BRACKETS.split(code)) if _QUOTED.search(code) else ()
    return None if any(masked_text(part) != part for part in parts) else code
