"""Flight Recorder dumps of the job: files that its ranks write, and answers of torch's debug server when it looks stuck."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol

import msgspec

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.batch import Batch
from hwtop.collectors.flight.decoder import Undecoded, decoded
from hwtop.collectors.flight.file import MOST_BYTES
from hwtop.collectors.found_file import read_found
from hwtop.collectors.stacks.debug_server import DebugServer
from hwtop.model.plan import FlightTarget, Request, SamplingPlan
from hwtop.model.reported.flight import FlightDump, FlightReading

_TOGETHER_S = 0.2
"""All files and servers together get so long in one read; what takes longer goes on in a thread and comes later."""
_ASK_EVERY_S = 10.0
"""A question runs code in the job's process."""
_DECODE_S = 0.3
"""One read waits so long for what is being decoded; it comes in a later one."""
_NCCL, _ANY = "dump_nccl_trace_json", "fr_trace_json"
"""Handlers of torch's worker server: NCCL's records, and those of all other backends."""


class Server(Protocol):
    """As much of DebugServer as is needed here."""

    def handlers(self) -> list[str]:
        """Names of what can be asked."""

    def post(self, handler: str, params: Mapping[str, str] | None = None) -> bytes:
        """Ask."""


class _Key(NamedTuple):
    """One thing that may block: a file to read, a server to ask, a FIFO to write to."""

    kind: str
    rank: int
    pid: int
    path: str


class FlightSource:
    """Fills `Snapshot.flight`: a level, the newest dump of each rank.

    Files are looked at through /proc/PID/root, where a container's paths are, and read again only when they change.
    """

    name = "flight"
    every_s = 2.0

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        proc: str = "/proc",
        find_server: Callable[[int, str], Server | None] = DebugServer.find,
    ) -> None:
        self._now = now
        self._wall = wall
        self._proc = proc
        self._find_server = find_server
        self._batch: Batch[_Key] = Batch("flight", self._work, now)
        self._targets: dict[int, FlightTarget] = {}
        self._request: Request | None = None
        self._served = 0
        self._versions: dict[tuple[int, str], tuple[int, int]] = {}
        self._read: dict[int, Undecoded] = {}
        self._decoding: Abandonable[None] = Abandonable("flight-decode", self._decode_waiting, now)
        self._dumps: dict[int, FlightDump] = {}
        self._asked_at_s: dict[int, float] = {}
        self._refusals: dict[str, str] = {}

    def probe(self) -> str | None:
        """Always able to run."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take the places where dumps may be, and the user's request for one."""
        self._targets = {target.rank: target for target in plan.flight}
        if plan.request is not None and plan.request.kind == "flight-pipe" and plan.request.number > self._served:
            self._request = plan.request

    def close(self) -> None:
        """Nothing to release."""

    def read(self) -> FlightReading:
        """The newest dump of each rank, those that cannot be read with their reason."""
        keys = [*self._pipes(), *self._files(), *self._servers()]
        missing = {_place(key): reason for key, reason in self._batch.run(keys, _TOGETHER_S).items()}
        self._decode()
        dumps = tuple(
            dump for rank, dump in sorted(dict(self._dumps).items()) if not self._is_of_another_run(rank, dump)
        )
        return FlightReading(at_s=self._now(), dumps=dumps, missing={**self._refusals, **missing})

    def _files(self) -> list[_Key]:
        return [
            _Key("file", target.rank, target.pid, path) for target in self._targets.values() for path in target.files
        ]

    def _servers(self) -> list[_Key]:
        now_s = self._now()
        due = [
            target
            for target in self._targets.values()
            if target.may_ask and now_s - self._asked_at_s.get(target.pid, -_ASK_EVERY_S) >= _ASK_EVERY_S
        ]
        for target in due:
            self._asked_at_s[target.pid] = now_s
        return [_Key("server", target.rank, target.pid, "") for target in due]

    def _pipes(self) -> list[_Key]:
        """FIFOs of all ranks, once a request: the dump of one rank says little."""
        if self._request is None:
            return []
        self._served, self._request = self._request.number, None
        found = [_Key("pipe", each.rank, each.pid, each.pipe) for each in self._targets.values() if each.pipe]
        if not found:
            self._refusals["pipe"] = "no rank has a pipe: set TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/fr next time"
        return found

    def _work(self, key: _Key) -> None:
        """In a thread that may be abandoned. Never raises."""
        do = {"file": self._look, "server": self._ask, "pipe": self._poke}[key.kind]
        try:
            do(key)
            self._refusals.pop(_place(key), None)
        except (OSError, ValueError) as error:
            self._refusals[_place(key)] = _reason(error)

    def _look(self, key: _Key) -> None:
        for path in (f"{self._proc}/{key.pid}/root{key.path}", key.path):
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError, PermissionError, ProcessLookupError):
                continue
            started_s = self._targets[key.rank].started_s if key.rank in self._targets else None
            version = (found.st_mtime_ns, found.st_size)
            is_new = self._versions.get((key.rank, key.path)) != version
            if not is_new or (started_s is not None and found.st_mtime < started_s) or not stat.S_ISREG(found.st_mode):
                return
            # by default they lie in /tmp, where anybody may put one
            data, read = read_found(path, self._uid_of(key.rank), MOST_BYTES + 1)
            self._put(key.rank, data, key.path, read.st_mtime, is_asked=False)
            self._versions[key.rank, key.path] = version
            return

    def _uid_of(self, rank: int) -> int | None:
        target = self._targets.get(rank)
        return None if target is None else target.uid

    def _ask(self, key: _Key) -> None:
        server = self._find_server(key.pid, self._proc)
        if server is None:
            return
        names = server.handlers()
        data = b""
        if _NCCL in names:
            wanted = {"includecollectives": "true", "includestacktraces": "false", "onlyactive": "true"}
            data = server.post(_NCCL, wanted)
        if _ANY in names and (not data or _is_empty(data)):
            data = server.post(_ANY)
        if data:
            self._put(key.rank, data, f"debug server of PID {key.pid}", self._wall(), is_asked=True)

    def _poke(self, key: _Key) -> None:
        """One byte into the FIFO; never waits for its reader."""
        path = f"{self._proc}/{key.pid}/root{key.path}"
        if not stat.S_ISFIFO(os.stat(path).st_mode):  # opening a device to write may do something
            raise OSError(errno.EINVAL, f"{key.path} is not a FIFO")
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISFIFO(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, f"{key.path} is not a FIFO")
            os.write(fd, b"1")
        finally:
            os.close(fd)

    def _put(self, rank: int, data: bytes, origin: str, taken_s: float, *, is_asked: bool) -> None:
        waiting = self._read.get(rank)
        if waiting is None or waiting.taken_s <= taken_s:
            at_s = self._now() - max(0.0, self._wall() - taken_s)
            self._read[rank] = Undecoded(data, rank, origin, at_s, taken_s, is_asked)

    def _decode(self) -> None:
        """What is decoded in time is there at once; a broken dump may take very long."""
        if self._read or self._decoding.out_for_s() > 0.0:
            with suppress(TimeoutError):
                self._decoding.poll(_DECODE_S)

    def _decode_waiting(self) -> None:
        """In a thread that may be abandoned."""
        waiting = [self._read.pop(rank) for rank in list(self._read)]
        for dump in decoded(waiting):
            rank = dump.rank or 0
            if rank not in self._dumps or dump.error is None or self._dumps[rank].error is not None:
                self._dumps[rank] = dump

    def _is_of_another_run(self, rank: int, dump: FlightDump) -> bool:
        target = self._targets.get(rank)
        if target is None or target.started_s is None or dump.taken_s is None:
            return target is None
        return dump.taken_s < target.started_s


def _is_empty(data: bytes) -> bool:
    """NCCL's records are there but unused: the job's groups are of another backend."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(document, dict) and not document.get("entries") and not document.get("pg_status")


def _place(key: _Key) -> str:
    return f"debug server of rank {key.rank}" if key.kind == "server" else key.path


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENXIO:
        return "the rank does not listen to its pipe"
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__
