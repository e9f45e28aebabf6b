"""Writer of a recording: a transaction for each reading, so that whatever ends the process loses none that was written."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from hwtop.errors import CannotError, UsageError
from hwtop.model.snapshot import Snapshot
from hwtop.store.bursts import Bursts
from hwtop.store.encoding import encoded
from hwtop.store.kind import MACHINE, Kind, Reading
from hwtop.store.packing import compressor
from hwtop.store.schema import APPLICATION_ID, TABLES, Row, sqlite3

_KEY_S = 60.0
"""From one key frame to the next; engineering default: what differs from it grows with its age."""
_PARTS = 8
"""A key frame with its rows takes at most this part of the cap, and the oldest go when less than two parts are left."""
_LEAST_FREE_BYTES = 64 << 20
"""On the disk, checked at each key frame: the job needs the rest more than the recording does."""
_PAGE_BYTES = 1024
"""Of the file. A row takes 2 to 4 KB and begins a page of its own: larger pages stay half empty."""


class _Group(Struct):
    """A key frame and the rows after it."""

    first_id: int
    first_at_s: float
    last_at_s: float
    size_bytes: int = 0


class Writer:
    """Creates the file, readable for the user only, or keeps all of it in memory. Used by one thread at a time."""

    def __init__(
        self,
        place: Path | None,
        *,
        kind: Kind[Any] = MACHINE,
        most_bytes: int | None = None,
        keep_s: float | None = None,
        mask: Callable[[Snapshot], Snapshot] | None = None,
    ) -> None:
        """`place`: None = in memory. `kind`: of all its rows. `most_bytes`: size of the file, `keep_s`: age of the oldest row; what is beyond either goes, the oldest first. `mask`: hides more
        than the secrets of log lines; of Snapshots only.

        Raises:
            UsageError: there is such a file already.
            CannotError: it cannot be created.
        """
        self._place, self._kind = place, kind
        self._most_bytes, self._keep_s = most_bytes, keep_s
        self._bursts, self._mask = Bursts(), mask
        self._groups: deque[_Group] = deque()
        self._compressor = compressor()
        self._next_id = 1
        if place is None:
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._create()
            return
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(place.absolute(), isolation_level=None, check_same_thread=False)
            self._create()
        except FileExistsError:
            raise UsageError(
                f"{str(place)!r} exists: recordings never replace a file, so choose another name"
            ) from None
        except OSError as error:
            raise CannotError(f"cannot create {str(place)!r}: {error.strerror or error}") from None
        except sqlite3.Error as error:
            place.unlink(missing_ok=True)
            raise CannotError(f"cannot create {str(place)!r}: {error}") from None

    def _create(self) -> None:
        """With the header in the file itself before anything goes to the write-ahead log: it shows what the file is."""
        run = self._db.execute
        run(f"PRAGMA page_size={_PAGE_BYTES}")
        run(f"PRAGMA application_id={APPLICATION_ID}")
        run(f"PRAGMA user_version={self._kind.version}")
        for statement in TABLES:
            run(statement)
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=NORMAL")  # synchronised with the disk at checkpoints only
        run("PRAGMA wal_autocheckpoint=128")

    def add(self, reading: Reading) -> None:
        """Store it. What was stored before stays whole, whatever happens.

        Raises:
            CannotError: it cannot be written; nothing more will be.
        """
        try:
            self._db.execute("BEGIN")
            self._insert(reading)
            self._db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            where = "the memory" if self._place is None else repr(str(self._place))
            raise CannotError(f"cannot write {where}: {error}; the recording ends here") from None

    def rows(self) -> list[Row]:
        """All that is stored, for `reader.of_rows`."""
        return self._db.execute("SELECT id, key, data FROM snapshot ORDER BY id").fetchall()

    def close(self) -> None:
        """Put all into the one file. Where that fails, the rest stays in the write-ahead log next to it."""
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()

    def _insert(self, reading: Reading) -> None:
        is_key = self._is_key_due(reading.at_s)
        if is_key:
            self._check_disk()
        content = encoded(self._fitted(reading))
        if len(content) > self._kind.most_bytes:
            raise OSError(f"more than {self._kind.most_bytes >> 20} MB at one time")
        data = (compressor() if is_key else self._compressor).compress(content)
        if is_key:
            self._compressor = compressor(content)
            self._groups.append(_Group(self._next_id, reading.at_s, reading.at_s))
            self._forget(reading.at_s)
        group = self._groups[-1]
        group.last_at_s = reading.at_s
        group.size_bytes += len(data)
        row = (self._next_id, reading.time_s, None if is_key else group.first_id, data)
        self._db.execute("INSERT INTO snapshot (id, time_s, key, data) VALUES (?, ?, ?, ?)", row)
        self._next_id += 1

    def _fitted(self, reading: Reading) -> Reading:
        """As it is stored. What agents send was cut and masked on their nodes."""
        if not isinstance(reading, Snapshot):
            return reading
        fitted = self._bursts.fitted(reading)
        return fitted if self._mask is None else self._mask(fitted)

    def _check_disk(self) -> None:
        if self._place is None:
            return
        disk = os.statvfs(self._place.parent)
        if disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES:
            raise OSError(f"less than {_LEAST_FREE_BYTES >> 20} MB free")

    def _is_key_due(self, at_s: float) -> bool:
        if not self._groups:
            return True
        group = self._groups[-1]
        is_full = self._most_bytes is not None and group.size_bytes >= self._most_bytes // _PARTS
        return is_full or at_s - group.first_at_s >= _KEY_S

    def _forget(self, now_s: float) -> None:
        """The oldest groups, where the file would become too large or they are too old. Their pages are used again."""
        while len(self._groups) > 1 and (self._is_full() or self._is_old(self._groups[0], now_s)):
            self._groups.popleft()
            self._db.execute("DELETE FROM snapshot WHERE id < ?", (self._groups[0].first_id,))

    def _is_full(self) -> bool:
        if self._most_bytes is None:
            return False
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
        return bool((pages - free) * _PAGE_BYTES > self._most_bytes * (_PARTS - 2) // _PARTS)

    def _is_old(self, group: _Group, now_s: float) -> bool:
        return self._keep_s is not None and now_s - group.last_at_s > self._keep_s
