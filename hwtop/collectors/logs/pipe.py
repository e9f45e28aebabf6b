"""Log pipe: who reads what a job writes into a pipe or a terminal, and which file it puts it into (`python train.py | tee train.log`).

What stands in /proc/PID/fd and fdinfo (proc(5)) identifies both ends of a pipe by its inode and both ends of a terminal by the
`tty-index` of its master. Any number of filters may stand between (`| grep -v x | ts | tee train.log`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from hwtop.job.log.name import is_log_name

_MOST_PIDS = 20_000
_LONGEST_CHAIN = 8
_READ_ONLY = 0
_WRITE_ONLY = 1
_ACCESS_MODE = 3
_NO_FILES = ("/dev/", "/proc/", "/sys/", "/memfd:")
_RECORDERS = frozenset({"script", "screen", "SCREEN"})
"""Programs that hold a terminal and write down what is shown on it: script(1), `screen -L`."""
SLURMSTEPD = "slurmstepd"
_TERMINAL = re.compile(r"/dev/pts/(\d+)$")


class PipeReader(Struct, frozen=True):
    """The process at the other end, the last one of a chain of filters."""

    pid: int
    comm: str
    files: tuple[str, ...]
    """Regular files that it writes: one for tee, one a rank for `mpirun --output-filename`."""
    ends_in: str = ""
    """Where a filter without a file of its own writes to: a terminal, a pipe nobody reads."""


def find_reader(proc: str, target: str, writers: Sequence[int], known: int | None = None) -> PipeReader | None:
    """Who reads `target` ("pipe:[123]" or "/dev/pts/4"), and what the processes `writers` write there; None when none is visible.

    Looks at `known` first and at the writers' neighbours next: walks all processes at worst, so call it where it can be
    abandoned, and keep the answer.
    """
    if _TERMINAL.match(target):
        return _recorder(proc, target)
    seen = set(writers)
    reader = None
    for _ in range(_LONGEST_CHAIN):
        near = next(iter(writers), 0)
        pid = next(
            (pid for pid in _by_distance(proc, near, known) if pid not in seen and _reads(f"{proc}/{pid}", target)),
            None,
        )
        if pid is None:
            return reader
        known, process = None, f"{proc}/{pid}"
        files = written_files(process)
        target = _target(process, "1")
        reader = PipeReader(pid, _comm(process), files, ends_in="" if files else target)
        if files or not target.startswith("pipe:"):
            return reader
        seen.add(pid)
    return reader


def written_files(process: str) -> tuple[str, ...]:
    """What it opened itself (tee), else its standard output (`| cat > train.log`); its errors go elsewhere.

    `process`: its directory, /proc/PID. slurmstepd writes into its own log only.
    """
    if _comm(process) == SLURMSTEPD:
        return ()
    opened = [fd for fd in fds(process) if fd not in {"0", "1", "2"} and _is_file(_target(process, fd))]
    paths = dict.fromkeys(
        _target(process, fd) for fd in opened if open_flags(process, fd) & _ACCESS_MODE == _WRITE_ONLY
    )
    if len(paths) > 1 and _comm(process) != "tee":
        paths = dict.fromkeys(path for path in paths if is_log_name(path))
        return tuple(paths)
    if paths:
        return (next(iter(paths)),)  # the files of one tee all hold the same
    path = _target(process, "1")
    return (path,) if _is_file(path) and open_flags(process, "1") & _ACCESS_MODE != _READ_ONLY else ()


def fds(process: str) -> list[str]:
    """Open descriptors, lowest first; () for a process that has ended or is not readable."""
    with suppress(OSError):
        return sorted(os.listdir(f"{process}/fd"), key=int)
    return []


def pids_where(proc: str, holds: Callable[[str], bool]) -> list[int]:
    """Processes for whose directory `holds` is true."""
    return [int(name) for name in os.listdir(proc)[: 2 * _MOST_PIDS] if name.isdigit() and holds(f"{proc}/{name}")]


def _by_distance(proc: str, near: int, known: int | None) -> Iterable[int]:
    """A shell starts the processes of one pipeline one after the other."""
    if known is not None:
        yield known
    pids = (int(name) for name in os.listdir(proc) if name.isdigit())
    yield from sorted(pids, key=lambda pid: abs(pid - near))[:_MOST_PIDS]


def _recorder(proc: str, terminal: str) -> PipeReader | None:
    match = _TERMINAL.match(terminal)
    index = match[1] if match else ""
    for pid in pids_where(proc, lambda process: _comm(process) in _RECORDERS):
        process = f"{proc}/{pid}"
        masters = [fd for fd in fds(process) if _target(process, fd).endswith(("/ptmx", "/dev/ptmx"))]
        if any(_info(process, fd, "tty-index:") == index for fd in masters):
            opened = [fd for fd in fds(process) if fd not in {"0", "1", "2"} and _is_file(_target(process, fd))]
            paths = [_target(process, fd) for fd in opened if open_flags(process, fd) & _ACCESS_MODE != _READ_ONLY]
            return PipeReader(pid, _comm(process), tuple(dict.fromkeys(paths))[:1])
    return None


def _reads(process: str, target: str) -> bool:
    for fd in fds(process):
        if _target(process, fd) == target and open_flags(process, fd) & _ACCESS_MODE == _READ_ONLY:
            return True
    return False


def _is_file(path: str) -> bool:
    return path.startswith("/") and not path.startswith(_NO_FILES)


def _comm(process: str) -> str:
    with suppress(OSError), open(f"{process}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
    return "?"


def _target(process: str, fd: str) -> str:
    with suppress(OSError):
        return os.readlink(f"{process}/fd/{fd}")
    return ""


def open_flags(process: str, fd: str) -> int:
    """As open(2) was given them; 0 (read only) where they cannot be read."""
    text = _info(process, fd, "flags:")
    return int(text, 8) if text else 0


def _info(process: str, fd: str, name: str) -> str:
    with suppress(OSError), open(f"{process}/fdinfo/{fd}", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(name):
                return line.split()[1]
    return ""
