"""The kernel's log by way of `journalctl -f`: for users who may read the journal but not /dev/kmsg."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
from collections.abc import Sequence

from hwtop.collectors.child import Children
from hwtop.collectors.kernel.record import Record, parse_journal

PROBE_DEADLINE_S = 5.0
_PAST_RECORDS = 5000
"""About what the kernel's own buffer holds; a journal may go back for months."""
_READ_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 1 << 20


def refusal(command: str, children: Children) -> str | None:
    """Why the journal does not show the kernel's log, or None: one record of it is asked for."""
    try:
        ended = children.run((command, "-k", "-q", "-n", "1", "-o", "json", "--no-pager"), PROBE_DEADLINE_S)
    except OSError as error:
        return f"{command}: {(error.strerror or str(error)).lower()}"
    if ended.status is None:
        return f"{command} has not answered for {PROBE_DEADLINE_S:.0f} s"
    if any(parse_journal(line) is not None for line in ended.out.splitlines()):
        return None
    words = " ".join(ended.err.split())
    return f"{command} shows no kernel log{': ' + words[:200] if words else ''}"


class JournalFollower:
    """A child that writes each record as it comes. Started again behind the last record where it ends."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._child: subprocess.Popen[bytes] | None = None
        self._cursor: str | None = None
        self._rest = b""
        atexit.register(self.close)  # the thread that would do so may not come to it

    def read(self, limit: int) -> Sequence[Record]:
        """The records that have come since; `limit` is how many, roughly.

        Raises:
            OSError: it cannot be started.
        """
        if self._child is None or self._child.poll() is not None:
            self._start()
        assert self._child is not None and self._child.stdout is not None
        records: list[Record] = []
        while len(records) < limit:
            try:
                raw = os.read(self._child.stdout.fileno(), _READ_BYTES)
            except BlockingIOError:
                break
            if not raw:  # it has ended: the next read starts another
                break
            *lines, self._rest = (self._rest + raw).split(b"\n")
            records.extend(record for line in lines if (record := parse_journal(line)) is not None)
            self._rest = self._rest if len(self._rest) <= _LONGEST_LINE_BYTES else b""
        self._cursor = next((record.cursor for record in reversed(records) if record.cursor), self._cursor)
        return records

    def close(self) -> None:
        """End the child. Does not wait."""
        child, self._child = self._child, None
        if child is not None:
            with contextlib.suppress(OSError):
                child.kill()
        atexit.unregister(self.close)

    def _start(self) -> None:
        since = ("-n", str(_PAST_RECORDS)) if self._cursor is None else ("--after-cursor", self._cursor, "--no-tail")
        self._rest = b""
        if self._child is not None and self._child.stdout is not None:
            self._child.stdout.close()
        self._child = subprocess.Popen(
            (self._command, "-k", "-q", "-f", "-o", "json", "--no-pager", *since),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._child.stdout is not None
        os.set_blocking(self._child.stdout.fileno(), False)
