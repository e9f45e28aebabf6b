"""Reader of a recording. The file may come from anybody: it is never written, and all that is read of it is bounded.

Parts that cannot be read are left out and counted; what is left is replayed.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from hwtop.errors import UsageError
from hwtop.model.snapshot import Snapshot
from hwtop.store.packing import UnreadableError, decoded, decompressed, decompressor
from hwtop.store.schema import APPLICATION_ID, MOST_BYTES, TABLES, VERSION, Row, sqlite3

_LATEST_S = 253_402_300_800.0
"""End of the year 9999, the last that Python can show."""
_ROWS = "SELECT id, key, CASE WHEN typeof(data) = 'blob' AND length(data) <= ? THEN data ELSE x'' END FROM snapshot ORDER BY id"
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_USER_VERSION, _APPLICATION_ID = slice(60, 64), slice(68, 72)
"""Of the header (https://www.sqlite.org/fileformat.html)."""


class Recording:
    """The Snapshots of one file, in the order in which they were stored."""

    def __init__(self, place: Path, name: str | None = None) -> None:
        """Opens it. `name`: what messages call it, where that is not its path.

        Raises:
            UsageError: there is no such file, it is not a recording, it is damaged, or another version of hwtop has written it.
        """
        self._name = repr(name or str(place))
        _check_header(place, self._name)
        self._unreadable = 0
        self._damage: str | None = None
        try:
            self._db = _opened(place)
            self._check_tables()
            self.last_s = self._newest_s()
            """Time of the newest Snapshot, seconds after the epoch."""
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise UsageError(f"{self._name} is a damaged recording: {error}") from None

    def snapshots(self, until_s: float = math.inf) -> Iterator[Snapshot]:
        """All that can be read, up to this time (seconds after the epoch)."""
        self._unreadable, self._damage = 0, None
        rows, at_s = _Rows(), -math.inf
        for row in self._rows():
            try:
                snapshot = rows.read(*row)
                if not (at_s < snapshot.at_s < _LATEST_S and 0 <= snapshot.time_s < _LATEST_S):
                    raise UnreadableError("its time is impossible")
            except UnreadableError:
                self._unreadable += 1
                continue
            if snapshot.time_s > until_s:
                return
            at_s = snapshot.at_s
            yield snapshot

    @property
    def problems(self) -> list[str]:
        """What the last `snapshots` could not read, in words."""
        left_out = f"{self._name}: {self._unreadable} snapshots are damaged and left out"
        cut = f"{self._name} is damaged: {self._damage}; what comes after it is left out"
        return [left_out] * bool(self._unreadable) + [cut] * (self._damage is not None)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _check_tables(self) -> None:
        """No more and no other than hwtop creates: a view or trigger could run for ever."""
        found = self._db.execute("SELECT type, sql FROM sqlite_master ORDER BY rowid LIMIT 3").fetchall()
        if found != list(zip(("table", "index"), TABLES, strict=True)):
            raise UsageError(f"{self._name} is not a recording of hwtop: it has other tables")

    def _newest_s(self) -> float:
        (newest_s,) = self._db.execute("SELECT max(time_s) FROM snapshot").fetchone()
        if newest_s is None:
            raise UsageError(f"{self._name} is an empty recording: it ended before the first snapshot")
        if not 0 <= newest_s < _LATEST_S:
            raise ValueError("its times are impossible")
        return float(newest_s)

    def _rows(self) -> Iterator[Row]:
        """(id, id of its key frame, data), data empty where it is none."""
        last = 0
        try:
            for number, key, data in self._db.execute(_ROWS, (MOST_BYTES,)):
                if number <= last:  # pages that refer to each other can give the same rows for ever
                    raise sqlite3.DatabaseError("its pages are out of order")
                last = number
                yield number, key, data
        except sqlite3.Error as error:
            self._damage = str(error)


def of_rows(rows: Iterable[Row]) -> Iterator[Snapshot]:
    """The Snapshots of what a `Writer` of this process holds."""
    reader = _Rows()
    return (reader.read(*row) for row in rows)


class _Rows:
    """Reads rows in turn; holds the newest key frame."""

    def __init__(self) -> None:
        self._plain = decompressor()
        self._key: int | None = None
        self._after_key = self._plain

    def read(self, number: int, key: int | None, data: bytes) -> Snapshot:
        """Its Snapshot.

        Raises:
            UnreadableError: it is damaged, or its key frame is.
        """
        if key is None:
            content = decompressed(self._plain, data)
            self._key, self._after_key = number, decompressor(content)
        elif key != self._key:
            raise UnreadableError("its key frame is missing")
        else:
            content = decompressed(self._after_key, data)
        return decoded(content)


def _check_header(place: Path, name: str) -> None:
    """Before SQLite sees the file."""
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise UsageError(f"{name} is not a regular file")
        with open(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY), "rb") as file:
            header = file.read(_HEADER_BYTES)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None
    if (
        len(header) < _HEADER_BYTES
        or not header.startswith(_MAGIC)
        or _number(header[_APPLICATION_ID]) != APPLICATION_ID
    ):
        raise UsageError(f"{name} is not a recording of hwtop")
    version = _number(header[_USER_VERSION])
    if version != VERSION:
        reason = f"its schema is {version}, and this hwtop reads {VERSION}"
        raise UsageError(f"{name} was written by another version of hwtop: {reason}")


def _number(part: bytes) -> int:
    return int.from_bytes(part, "big")


def _opened(place: Path) -> sqlite3.Connection:
    """Read-only. One whose writer was killed has a write-ahead log next to it, for which SQLite needs a file in the same folder; where
    that folder cannot be written, the file is read without."""
    path = quote(str(place.absolute()))
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        db = sqlite3.connect(f"file:{path}?{mode}", uri=True, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA cell_size_check=ON")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            with contextlib.suppress(sqlite3.Error):
                db.close()
            continue
        return db
    raise sqlite3.OperationalError("it cannot be opened")
