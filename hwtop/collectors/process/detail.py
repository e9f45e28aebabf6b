"""The process that the user has selected: its environment at exec with secrets masked, its open files, its limits."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from typing import Literal

from hwtop.collectors.batch import Batch
from hwtop.collectors.process.files import read_bytes, read_environ, read_status
from hwtop.job.secrets import masked
from hwtop.model.plan import SamplingPlan
from hwtop.model.process import OpenFile, ProcessDetail

_EVERY_S = 2.0
_DEADLINE_S = 0.2
"""How long one reading waits for files that may block."""
_FILE_LIMIT = 1024
"""Descriptors that are read: 0.02 ms each."""
_VARIABLE_LIMIT = 2000
_LIMITS = (
    "Max open files",
    "Max processes",
    "Max locked memory",
    "Max address space",
    "Max stack size",
    "Max core file size",
    "Max cpu time",
    "Max file size",
)
"""Lines of /proc/PID/limits that stop training jobs: too many files, threads, pinned pages; no core dump."""

Part = Literal["env", "files", "sizes", "limits"]
_PARTS: tuple[Part, ...] = ("limits", "files", "env", "sizes")


class DetailSource:
    """Fills `Snapshot.detail` for `SamplingPlan.detail_pid`, and with nothing while no process is selected.

    Environment and files of a process in uninterruptible sleep, and sizes of files on a dead mount, may block for ever: each
    part is read where it can be abandoned. psutil lists regular files only, after a stat of each, which a dead mount blocks; its
    limits (prlimit(2)) are refused for another user's process, /proc/PID/limits is not.
    """

    name = "detail"
    every_s = 0.0

    def __init__(
        self, proc: str = "/proc", now: Callable[[], float] = time.monotonic, deadline_s: float = _DEADLINE_S
    ) -> None:
        self._proc = proc
        self._now = now
        self._deadline_s = deadline_s
        self._pid: int | None = None
        self._last: ProcessDetail | None = None
        self._look: _Look | None = None
        self._batch: Batch[tuple[int, Part]] = Batch("detail", self._read_part, now)

    def probe(self) -> str | None:
        """It can always be asked."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Look at this process from now on."""
        self._pid = plan.detail_pid

    def read(self) -> ProcessDetail | None:
        """What there is to see of the process; at most every 2 s, at once for another process."""
        pid, now_s = self._pid, self._now()
        if pid is None:
            self._last = self._look = None
            return None
        if self._last is not None and self._last.pid == pid and now_s - self._last.at_s < _EVERY_S:
            return self._last
        self._look = look = _Look(f"{self._proc}/{pid}")
        late = self._batch.run([(pid, part) for part in _PARTS], self._deadline_s)
        missing = dict(look.missing) | {part: reason for (of, part), reason in late.items() if of == pid}
        self._last = ProcessDetail(
            pid=pid,
            at_s=now_s,
            env=look.env,
            files=look.reported_files(),
            file_count=look.file_count,
            limits=dict(look.limits),
            missing=missing,
        )
        return self._last

    def close(self) -> None:
        """Nothing is held open."""

    def _read_part(self, key: tuple[int, Part]) -> None:
        look = self._look
        if look is not None:
            look.read(key[1])


class _Look:
    """One reading of one process; parts that come late are left in it and not seen any more."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.env: tuple[tuple[str, str], ...] | None = None
        self.files: tuple[OpenFile, ...] | None = None
        self.file_count: int | None = None
        self.sizes: dict[int, int] = {}
        self.limits: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    def read(self, part: Part) -> None:
        """Never raises."""
        readers = {
            "env": self._read_env,
            "files": self._read_files,
            "sizes": self._read_sizes,
            "limits": self._read_limits,
        }
        try:
            readers[part]()
        except OSError as error:
            self.missing[part] = self._reason(error)

    def reported_files(self) -> tuple[OpenFile, ...] | None:
        """The files with the sizes that are known."""
        if self.files is None:
            return None
        return tuple(
            OpenFile(
                fd=file.fd,
                target=file.target,
                is_writable=file.is_writable,
                mode=file.mode,
                offset_bytes=file.offset_bytes if file.fd in self.sizes else None,
                size_bytes=self.sizes.get(file.fd),
            )
            for file in self.files
        )

    def _read_env(self) -> None:
        pairs: dict[str, str] = {}
        parts = read_environ(self._directory).split(b"\0")
        for part in parts[:_VARIABLE_LIMIT]:
            name, sign, value = part.partition(b"=")
            # What is no pair was written over the environment as the title of the process. The first of a name counts.
            if sign and name:
                text = name.decode("utf-8", "replace")
                pairs.setdefault(text, masked(text, value.decode("utf-8", "replace")))
        self.env = tuple(sorted(pairs.items()))
        if len(parts) > _VARIABLE_LIMIT:
            self.missing["env"] = f"first {_VARIABLE_LIMIT} variables of {len(parts) - 1}"

    def _read_files(self) -> None:
        descriptors = sorted(int(name) for name in os.listdir(f"{self._directory}/fd"))
        self.file_count = len(descriptors)
        found = []
        for descriptor in descriptors[:_FILE_LIMIT]:
            try:
                target = os.readlink(f"{self._directory}/fd/{descriptor}")
                mode, offset = _position(read_bytes(f"{self._directory}/fdinfo/{descriptor}"))
            except OSError:
                continue  # closed meanwhile
            found.append(
                OpenFile(fd=descriptor, target=target, is_writable="w" in mode, mode=mode, offset_bytes=offset)
            )
        self.files = tuple(found)
        if self.file_count > _FILE_LIMIT:
            self.missing["files"] = f"first {_FILE_LIMIT} of {self.file_count}"

    def _read_sizes(self) -> None:
        """Asks the file systems: the only part that leaves /proc."""
        for file in self.files or ():
            if not file.target.startswith("/"):
                continue
            try:
                status = os.stat(f"{self._directory}/fd/{file.fd}")
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                self.sizes[file.fd] = status.st_size

    def _read_limits(self) -> None:
        for line in read_bytes(f"{self._directory}/limits").decode("ascii", "replace").splitlines():
            name = next((name for name in _LIMITS if line.startswith(name)), None)
            words = line[len(name) :].split() if name else []
            if name and words:
                unit = f" {words[2]}" if len(words) > 2 and words[0] != "unlimited" else ""
                self.limits[name] = words[0] + unit

    def _reason(self, error: OSError) -> str:
        if isinstance(error, (FileNotFoundError, ProcessLookupError)):
            return "the process has ended"
        if not isinstance(error, PermissionError):
            return str(error)
        try:
            owner = read_status(self._directory).uid
        except OSError:
            return "the process has ended"
        if owner is None or owner == os.geteuid():
            return "permission denied"
        return f"the process belongs to uid {owner}: run hwtop as that user or as root"


def _position(fdinfo: bytes) -> tuple[str, int | None]:
    """(mode, offset) of /proc/PID/fdinfo/N (proc(5))."""
    values = dict(line.split(b":", 1) for line in fdinfo.splitlines() if b":" in line)
    flags = int(values.get(b"flags", b"0").split()[0], 8)
    access = flags & os.O_ACCMODE
    mode = "rw" if access == os.O_RDWR else "w" if access == os.O_WRONLY else "r"
    offset = values.get(b"pos", b"").strip()
    return mode, int(offset) if offset.isdigit() else None
