"""Logs: the new lines of all files that the job writes its output to, and of those named by --logs."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

from hwtop.collectors.batch import Batch
from hwtop.collectors.found_file import untrusted
from hwtop.collectors.logs.followed import Followed
from hwtop.collectors.logs.glob import Glob
from hwtop.collectors.logs.open_names import is_open, other_names
from hwtop.collectors.logs.origin import content_since_s
from hwtop.collectors.logs.output import Output, Outputs
from hwtop.collectors.logs.tail import DELETED, Tail, TailReading
from hwtop.collectors.logs.user_patterns import watched_patterns
from hwtop.collectors.logs.words import Words
from hwtop.collectors.process.files import read_status
from hwtop.job.patterns.match import prefilter_of
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.log import LogLine, LogReading

_TOGETHER_S = 0.15
"""Time that all files together get in one read: well under the sampler's 40 % of an interval."""
_LINES = 2_000
"""Lines that all files together bring in one read; a screen shows the newest 500, and understanding one takes up to 0.1 ms."""
_FEWEST_LINES = 16
_BYTES = 64 << 20
"""What is read of all files together in one read; the rest waits in the files."""
_FEWEST_BYTES = 1 << 18
_KEEP_S = 60.0
"""A file that the job no longer has open is followed for this long: a crash writes last."""
_MOST_FILES = 512
_COARSE_S = 0.02
"""The kernel notes the time of a write by its tick. Source: current_time of fs/inode.c, ktime_get_coarse_real_ts64, a tick of 1 to 10 ms."""
_DEAD_S = 2.0
"""From then on the other files of a folder are not tried while one of it does not answer."""


class _Room:
    """Lines and bytes that one read may take, in equal shares; what one file does not need is left for those after it."""

    def __init__(self, lines: int, files: int) -> None:
        self._lines = lines
        self._bytes = _BYTES
        self._files = files

    def share(self) -> tuple[int, int]:
        """For the next file."""
        files = max(1, self._files)
        return max(_FEWEST_LINES, self._lines // files), max(_FEWEST_BYTES, self._bytes // files)

    def take(self, lines: int, read_bytes: int) -> None:
        """What it took."""
        self._lines -= lines
        self._bytes -= read_bytes
        self._files -= 1


class LogSource:
    """Follows `plan.logs` and the globs. A file that blocks or fails is a reason in its LogFile, nothing else."""

    name = "logs"
    every_s = 0.0

    def __init__(
        self,
        *,
        globs: tuple[str, ...] = (),
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        proc: str = "/proc",
        root: str = "",
        line_limit: int = _LINES,
        together_s: float = _TOGETHER_S,
        boot_time: Callable[[], float] = psutil.boot_time,
    ) -> None:
        """`root` stands before the places of container logs; one read takes about `together_s` at most."""
        self._globs = tuple(Glob(pattern, proc, now) for pattern in globs)
        self._now = now
        self._wall = wall
        self._proc = proc
        self._line_limit = line_limit
        self._together_s = together_s
        self._outputs = Outputs(proc, now, root)
        self._boot_time = boot_time
        self._targets: tuple[LogTarget, ...] = ()
        self._target_pid: int | None = None
        self._uid: int | None = None
        self._followed: dict[str, Followed] = {}
        self._most_files = min(_MOST_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        self._batch: Batch[str] = Batch("logs", self._read_one, now, slice_s=together_s / 3)
        self._room = _Room(line_limit, 0)
        self._read_at_s: float | None = None
        """When the reading before this one began."""

    def probe(self) -> str | None:
        """Always able to run."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take the files that the job's processes have open as output."""
        self._targets = plan.logs
        if plan.target_pid != self._target_pid:
            self._target_pid, self._uid = plan.target_pid, None
        for pattern in self._globs:
            pattern.pids = tuple(pid for target in plan.logs for pid in target.pids)

    def close(self) -> None:
        """Release the files; one whose read hangs is left to its thread."""
        for followed in self._followed.values():
            if followed.began_s is None:
                followed.tail.close()

    def read(self) -> LogReading:
        """New lines of all files. Waits at most `together_s` for all of them together."""
        at_s = self._now()
        missing: dict[str, str] = {}
        outputs, untailed = self._outputs.resolve(self._targets)
        wanted = self._wanted([*outputs, *self._globbed(missing)])
        if not wanted and not untailed:
            missing["files"] = "no log file known: name it with --logs GLOB"
        self._choose(wanted, at_s, missing)
        self._room = _Room(self._line_limit, len(self._followed))
        self._batch.run(self._by_appetite(), self._together_s)
        lines: list[LogLine] = []
        skipped = 0
        for path, followed in self._followed.items():
            reading = followed.take()
            if reading is not None:
                skipped += reading.skipped
                lines.extend(_lines(path, reading, self._written_s(reading, at_s)))
        lines.sort(key=lambda line: line.at_s)  # of several files in the order in which they were written
        self._read_at_s = at_s
        files = [
            followed.file(self._now(), self._wall()) for followed in self._followed.values() if not followed.is_nothing
        ]
        time_s = self._wall()
        return LogReading(
            at_s=at_s,
            files=(*files, *untailed),
            lines=tuple(lines),
            skipped_lines=skipped,
            time_s=time_s,
            utc_offset_s=float(time.localtime(time_s).tm_gmtoff),
            missing=missing,
        )

    def _written_s(self, reading: TailReading, at_s: float) -> float:
        """When the newest line was written, on the monotonic clock. The file tells it where its time lies between the two readings;
        clocks of file servers differ, and what they say may be some seconds old."""
        if reading.modified_s is None or self._read_at_s is None:
            return at_s
        written_s = self._now() - (self._wall() - reading.modified_s)
        is_new = self._read_at_s - _COARSE_S <= written_s <= at_s
        return max(self._read_at_s, written_s) if is_new else at_s

    def _globbed(self, missing: dict[str, str]) -> list[Output]:
        found: list[Output] = []
        for pattern in self._globs:
            paths, reason = pattern.paths()
            found.extend(Output(path, is_named=True) for path in paths)
            if reason is not None:
                missing["globs"] = f"{missing['globs']}; {reason}" if "globs" in missing else reason
        return found

    def _wanted(self, outputs: Iterable[Output]) -> dict[str, Output]:
        wanted: dict[str, Output] = {}
        for output in outputs:
            path = output.path
            if path.endswith(DELETED) and path.removesuffix(DELETED) in self._followed:
                # its tail still holds the deleted file open: the same lines must not come twice
                path = path.removesuffix(DELETED)
            before = wanted.get(path, output)
            pids = tuple(dict.fromkeys((*before.pids, *output.pids)))
            wanted[path] = Output(
                path=path,
                pids=pids,
                through=before.through or output.through,
                may_lack=before.may_lack and output.may_lack,
                is_named=before.is_named or output.is_named,
            )
        return wanted

    def _choose(self, wanted: dict[str, Output], at_s: float, missing: dict[str, str]) -> None:
        for path, output in wanted.items():
            followed = self._followed.get(path)
            if followed is not None:
                followed.wanted_at_s, followed.output = at_s, output
            elif len(self._followed) < self._most_files:
                self._followed[path] = Followed(output, self._tail(output), at_s)
            else:
                reason = f"only {self._most_files} of {len(wanted)} log files are followed"
                missing["files"] = f"{reason}: name those that matter with --logs GLOB"
        for path, followed in list(self._followed.items()):
            if at_s - followed.wanted_at_s > _KEEP_S and followed.began_s is None:
                followed.tail.close()
                del self._followed[path]

    def _tail(self, output: Output) -> Tail:
        words = Words(prefilter_of(watched_patterns().registry))
        path = output.path
        return Tail(path, lambda: other_names(self._proc, output), words, lambda status: self._refusal(path, status))

    def _refusal(self, path: str, status: os.stat_result) -> str | None:
        """What no process of the job has open to write may be anybody's, or a link to what only root may read."""
        followed = self._followed.get(path)
        if followed is None or followed.output.is_named:
            return None
        if self._uid is None and self._target_pid is not None:
            with suppress(OSError):
                self._uid = read_status(f"{self._proc}/{self._target_pid}").uid
        reason = untrusted(status, self._uid)
        return None if reason is None or is_open(self._proc, followed.output, status) else reason

    def _by_appetite(self) -> list[str]:
        """Those that bring little first: they leave their share to those that flood. Folders that do not answer are left out."""
        now_s = self._now()
        dead = {
            os.path.dirname(path)
            for path, followed in self._followed.items()
            if followed.began_s is not None and now_s - followed.began_s > _DEAD_S
        }
        for path, followed in self._followed.items():
            if os.path.dirname(path) in dead and followed.began_s is None and followed.size_bytes is None:
                followed.error = "file system not answering: another file of its folder is waited for"
        paths = [path for path in self._followed if os.path.dirname(path) not in dead]
        return sorted(paths, key=lambda path: self._followed[path].brought)

    def _read_one(self, path: str) -> None:
        followed = self._followed[path]
        if followed.reading is not None:
            return  # it was late, and has not been taken yet
        followed.began_s = self._now()
        try:
            lines, read_bytes = self._room.share()
            reading = followed.tail.read(lines, read_bytes)
            if reading.opened_fd is not None and followed.output.pids:
                followed.content_since_s = self._content_since_s(followed.output, reading.opened_fd)
            self._room.take(len(reading.lines), reading.read_bytes)
            followed.brought = len(reading.lines) + reading.skipped
            followed.reading, followed.error = reading, None
        except OSError as error:
            followed.error = f"cannot read: {error.strerror or error}"
        finally:
            followed.began_s = None

    def _content_since_s(self, output: Output, fd: int) -> float | None:
        try:
            return content_since_s(output.path, fd, (*output.through, *output.pids), self._proc, self._boot_time())
        except (OSError, RuntimeError):  # a sandbox may hide the boot time
            return None


def _lines(path: str, reading: TailReading, at_s: float) -> Iterable[LogLine]:
    return [
        LogLine(path=path, line_no=line.line_no, text=line.text, at_s=at_s, is_past=line.is_past)
        for line in reading.lines
    ]
