"""A process that a launcher asked for, its three pipes, and the agents behind it. Nothing here waits."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator

from hwtop.errors import CannotError
from hwtop.fleet.launchers.launcher import Start
from hwtop.fleet.lines import LineReader
from hwtop.fleet.wire import Message, ProtocolError, Unpacker
from hwtop.job.log.text import visible

_READ_BYTES = 1 << 18
_KEPT_ERRORS = 4000
"""Characters of what was printed on standard error that are kept, the newest."""
_MOST_NODES = 10_000
"""Behind one process; what names more is garbage."""


class Child:
    """One process."""

    def __init__(self, start: Start) -> None:
        """Starts it.

        Raises:
            CannotError: there is no such program.
        """
        self.start = start
        self.errors = ""
        self.is_open = True
        """Standard output may still bring something."""
        self._lines = LineReader()
        self._unpackers: dict[str, Unpacker] = {name: Unpacker() for name in start.nodes}
        self._failed: set[str] = set()
        self.failures: list[tuple[str, str]] = []
        """(node, reason) of what was not understood since the last call of `read`."""
        try:
            self._process = subprocess.Popen(
                start.command,
                env=start.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is hwtop's: it ends them in order
            )
        except OSError as error:
            raise CannotError(f"cannot run {start.command[0]!r}: {error.strerror or error}") from None
        for pipe in self.pipes:
            os.set_blocking(pipe, False)
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    @property
    def pipes(self) -> tuple[int, int]:
        """Standard output and error."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout.fileno(), self._process.stderr.fileno()

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def words(self, node: str) -> str:
        """What was printed beside the protocol."""
        unpacker = self._unpackers.get(node)
        return "\n".join(text for text in (unpacker.noise if unpacker else "", self.errors) if text)

    def read(self) -> Iterator[tuple[str, Message]]:
        """(node, message): all that can be read now. What is not understood ends that node alone, and stands in `failures`."""
        self.failures = []
        self._read_errors()
        while self.is_open:
            data = _read(self.pipes[0])
            if data is None:
                return
            if not data:
                self.is_open = False
                self._read_errors()
                return
            for node, part in self._parts(data):
                yield from self._messages(node, part)
            if len(data) < _READ_BYTES // 4:
                return

    def _parts(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        if self.start.carries == "bytes":
            yield self.start.nodes[0], data
            return
        for node, part in self._lines.take(data):
            if node is None:
                self._note(part)
            elif node in self._unpackers or len(self._unpackers) < _MOST_NODES:
                yield node, part

    def _messages(self, node: str, data: bytes) -> Iterator[tuple[str, Message]]:
        if node in self._failed:
            return
        try:
            for message in self._unpackers.setdefault(node, Unpacker()).take(data):
                yield node, message
        except ProtocolError as error:
            self.give_up(node, str(error))

    def give_up(self, node: str, reason: str) -> None:
        """Nothing of this node is read any more."""
        self._failed.add(node)
        self.failures.append((node, reason))

    def _read_errors(self) -> None:
        while data := _read(self.pipes[1]):
            self._note(data)

    def _note(self, data: bytes) -> None:
        text = "\n".join(map(visible, data.decode(errors="replace").splitlines()))
        self.errors = f"{self.errors}\n{text}"[-_KEPT_ERRORS:]

    def send(self, data: bytes) -> None:
        """To all agents behind it; dropped where the pipe is full, or nobody reads it."""
        if len(data) <= os.sysconf("SC_PAGESIZE") and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                os.write(self._process.stdin.fileno(), data)

    def close_input(self) -> None:
        """Agents end with it."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """End it, whatever it does, and its pipes."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGTERM)
            if not self.wait(1.0):
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.is_open = False


def _read(pipe: int) -> bytes | None:
    """What is there; empty at its end, None where nothing is there now."""
    try:
        return os.read(pipe, _READ_BYTES)
    except BlockingIOError:
        return None
    except (OSError, ValueError):
        return b""
