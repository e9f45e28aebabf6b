"""The heartbeat: a training reports its step, loss and other numbers to hwtop, without a log.

    from hwtop import heartbeat             # or, where hwtop is not installed: hwtop heartbeat > hwtop_heartbeat.py

    for step, batch in enumerate(loader):
        ...
        heartbeat(step=step, loss=value, lr=schedule.get_last_lr()[0], tokens_per_s=rate)

Needs only the standard library. A call takes about a microsecond, never raises, never blocks, and does nothing where it cannot
work. The numbers go to a page of shared memory, /dev/shm/hwtop-NAMESPACE-PID (else in /run/user/UID), which only the same user
can read and which is removed when the process ends. A forked process gets its own page with its first call.

Only plain numbers are accepted (NumPy scalars included). Tensors are ignored: reading one would make the program wait for its
device. Pass `loss.item()` where you compute it anyway.

The page (native byte order), version 1: a head of 1,024 bytes, then 56 places for the newest beats, 128 bytes each.
Head: 0 "hwtop-beat-1\\n", 16 int64 PID, 24 int64 start of the process (clock ticks after boot, as in /proc/PID/stat; 0 = unknown),
32 int64 how many names, 64 ten names of 48 bytes, 544 ten names of values that were not accepted.
Place: int64 number of the beat (1 is the first), int64 CLOCK_MONOTONIC in ns, uint64 bits for which values are there (0 step,
1 loss, 2... the named ones), int64 step, float64 loss, ten float64 of the names, int64 number of the beat again. The two
numbers differ while it is written: a place is complete when two reads are equal and both numbers match.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock
from time import monotonic_ns

PLACES, PLACE_BYTES, HEAD_BYTES = 56, 128, 1024
PAGE_BYTES = HEAD_BYTES + PLACES * PLACE_BYTES
NAMES, NAME_BYTES, NAMES_AT, REFUSED_AT = 10, 48, 64, 544
MAGIC = b"hwtop-beat-1\n"
PLACE_FORMAT = "@qqQqd10dq"

_NOTHING = (0.0,) * NAMES


class _Page:
    """The page of this process."""

    def __init__(self) -> None:
        """Raises OSError if there is no space for it."""
        import struct
        from itertools import count
        from mmap import mmap

        self.pid = os.getpid()
        self.path, fd = _create(self.pid)
        try:
            # Space is allocated now: a page that is missing when it is written to would kill the process (SIGBUS).
            os.posix_fallocate(fd, 0, PAGE_BYTES)
            self.memory = mmap(fd, PAGE_BYTES)
        except BaseException:
            _remove(self.path)
            raise
        finally:
            os.close(fd)
        self.put = struct.Struct(PLACE_FORMAT).pack_into
        self.numbers = count(1)
        self.index_of: dict[str, int] = {}
        self.refused: set[str] = set()
        self._put_count = struct.Struct("@q").pack_into
        struct.pack_into("@qq", self.memory, 16, self.pid, _start_ticks())
        self.memory[: len(MAGIC)] = MAGIC

    def index(self, name: str) -> int:
        """Which of the ten numbers `name` is; a new one gets the next place. Raises IndexError when there is none."""
        index = self.index_of.get(name)
        if index is None:
            index = len(self.index_of)
            if index >= NAMES:
                raise IndexError(name)
            self._write_name(NAMES_AT, index, name)
            self.index_of[name] = index
            self._put_count(self.memory, 32, index + 1)
        return index

    def refuse(self, name: str) -> None:
        """Note for hwtop that the value of `name` is not a number."""
        if name not in self.refused and len(self.refused) < NAMES:
            self._write_name(REFUSED_AT, len(self.refused), name)
            self.refused.add(name)

    def remove(self) -> None:
        """The process ends. Its forked children must not touch its page."""
        if self.pid == os.getpid():
            _remove(self.path)

    def _write_name(self, at: int, index: int, name: str) -> None:
        text = name.encode("utf-8", "replace")[: NAME_BYTES - 1]
        start = at + index * NAME_BYTES
        self.memory[start : start + len(text)] = text


_page: _Page | None = None
_chance = allocate_lock()
"""Acquired by the first caller, who creates the page, and never released: a page that cannot be created is not tried again."""


def heartbeat(step: object = None, loss: object = None, **numbers: object) -> None:
    """Report to hwtop where the training is: call it once per step. Up to ten more numbers by name (lr, grad_norm, ...)."""
    page = _page
    try:
        if page is None:
            page = _open()
        if type(step) is int and type(loss) is float and not numbers:
            number = next(page.numbers)
            at = HEAD_BYTES + number % PLACES * PLACE_BYTES
            page.put(page.memory, at, number, monotonic_ns(), 3, step, loss, *_NOTHING, number)
        else:
            _report(page, step, loss, numbers)
    except Exception:  # noqa: S110 - nothing may disturb the training
        pass


def _report(page: _Page, step: object, loss: object, numbers: dict[str, object]) -> None:
    bits = 0
    plain_step, plain_loss = 0, 0.0
    values = [0.0] * NAMES
    if step is not None:
        number = _plain(step)
        if number is None:
            page.refuse("step")
        else:
            plain_step, bits = int(number), 1
    if loss is not None:
        number = _plain(loss)
        if number is None:
            page.refuse("loss")
        else:
            plain_loss, bits = number, bits | 2
    for name, value in numbers.items():
        number = value if type(value) is float else _plain(value)
        if number is None:
            page.refuse(name)
            continue
        index = page.index_of.get(name, -1)
        if index < 0:
            if len(page.index_of) >= NAMES:
                continue
            index = page.index(name)
        values[index] = number
        bits |= 4 << index
    beat = next(page.numbers)
    at = HEAD_BYTES + beat % PLACES * PLACE_BYTES
    page.put(page.memory, at, beat, monotonic_ns(), bits, plain_step, plain_loss, *values, beat)


def _plain(value: object) -> float | None:
    """As a number if that costs nothing; None for a tensor: reading it waits for its device."""
    if isinstance(value, (int, float)):
        return value
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return float(value)  # type: ignore[arg-type]
    return None


def _open() -> _Page:
    """Create the page at the first call. Raises OSError if it cannot be created."""
    global _page
    if not _chance.acquire(False):
        raise OSError("another thread is creating it, or it cannot be created")
    import atexit

    page = _Page()
    _clean(os.path.dirname(page.path), os.path.basename(page.path))
    atexit.register(page.remove)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, page.remove, exitpriority=0)  # its children leave without atexit
    os.register_at_fork(after_in_child=_forget)
    _page = page
    return page


def _forget() -> None:
    """In a forked process: the page is its parent's."""
    global _page, _chance
    _page, _chance = None, allocate_lock()


def _remove(path: str) -> None:
    try:  # noqa: SIM105 - contextlib and pathlib take longer to import than all of this file
        os.unlink(path)  # noqa: PTH108
    except OSError:
        pass


def _create(pid: int) -> tuple[str, int]:
    """(path, descriptor) of a new file of our own."""
    refusal: OSError | None = None
    for folder in ("/dev/shm", f"/run/user/{os.getuid()}"):
        path = f"{folder}/hwtop-{_namespace()}-{pid}"
        _remove(path)  # left by a process that had this PID before
        try:
            return path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            refusal = error
    raise refusal or OSError("no folder for the page")


def _namespace() -> str:
    """Number of the PID namespace: containers may share /dev/shm, but not their PIDs."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"


def _start_ticks() -> int:
    try:
        with open("/proc/self/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def _clean(folder: str, own: str) -> None:
    """Remove pages of processes that were killed before they could: only of this user and this PID namespace."""
    head = own.rpartition("-")[0] + "-"
    for name in os.listdir(folder):
        pid = name[len(head) :]
        if name == own or not name.startswith(head) or not pid.isdigit():
            continue
        path = f"{folder}/{name}"
        try:
            if os.lstat(path).st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            _remove(path)
        except OSError:
            continue
