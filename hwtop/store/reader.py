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
from typing import Generic
from urllib.parse import quote

from hwtop.errors import UsageError
from hwtop.model.fleet import FleetReading
from hwtop.model.snapshot import Snapshot
from hwtop.store.kind import FLEET, MACHINE, VERSIONS, Kind, R
from hwtop.store.packing import UnreadableError, decoded, decompressed, decompressor
from hwtop.store.possible import is_date, is_possible
from hwtop.store.schema import APPLICATION_ID, TABLES, Row, sqlite3

_ROWS = "SELECT id, key, CASE WHEN typeof(data) = 'blob' AND length(data) <= ? THEN data ELSE x'' END FROM snapshot ORDER BY id"
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_USER_VERSION, _APPLICATION_ID = slice(60, 64), slice(68, 72)
"""Of the header (https://www.sqlite.org/fileformat.html)."""


class _File(Generic[R]):
    """All rows of one file, in the order in which they were stored."""

    def __init__(self, place: Path, kind: Kind[R], name: str) -> None:
        self._name, self._kind = name, kind
        _check_version(_version(place, name), kind, name)
        self._unreadable = 0
        self._damage: str | None = None
        try:
            self._db = _opened(place)
            self._check_tables()
            self.last_s = self._newest_s()
            """Time of the newest reading, seconds after the epoch."""
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise UsageError(f"{self._name} is a damaged recording: {error}") from None

    def _readings(self, until_s: float) -> Iterator[R]:
        self._unreadable, self._damage = 0, None
        rows, at_s = _Rows(self._kind), -math.inf
        for row in self._rows():
            try:
                reading = rows.read(*row)
                if not (at_s < reading.at_s and is_possible(reading)):
                    raise UnreadableError("its times cannot be")
            except UnreadableError:
                self._unreadable += 1
                continue
            if reading.time_s > until_s:
                return
            at_s = reading.at_s
            yield reading

    @property
    def problems(self) -> list[str]:
        """What the last pass over it could not read, in words."""
        left_out = f"{self._name}: {self._unreadable} {self._kind.row}s are damaged and left out"
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
            raise UsageError(f"{self._name} is an empty recording: it ended before the first {self._kind.row}")
        if not is_date(newest_s):
            raise ValueError("its times are impossible")
        return float(newest_s)

    def _rows(self) -> Iterator[Row]:
        """(id, id of its key frame, data), data empty where it is none."""
        last = 0
        try:
            for number, key, data in self._db.execute(_ROWS, (self._kind.most_bytes,)):
                if number <= last:  # pages that refer to each other can give the same rows for ever
                    raise sqlite3.DatabaseError("its pages are out of order")
                last = number
                yield number, key, data
        except sqlite3.Error as error:
            self._damage = str(error)


class Recording(_File[Snapshot]):
    """The Snapshots of one machine."""

    def __init__(self, place: Path, name: str | None = None) -> None:
        """Opens it. `name`: what messages call it, where that is not its path.

        Raises:
            UsageError: there is no such file, it is not such a recording, it is damaged, or another version of hwtop has written it.
        """
        super().__init__(place, MACHINE, repr(name or str(place)))

    def snapshots(self, until_s: float = math.inf) -> Iterator[Snapshot]:
        """All that can be read, up to this time (seconds after the epoch)."""
        return self._readings(until_s)


class FleetRecording(_File[FleetReading]):
    """The readings of a job over several nodes."""

    def __init__(self, place: Path) -> None:
        """Opens it.

        Raises:
            UsageError: as of `Recording`.
        """
        super().__init__(place, FLEET, repr(str(place)))

    def readings(self, until_s: float = math.inf) -> Iterator[FleetReading]:
        """All that can be read, up to this time (seconds after the epoch)."""
        return self._readings(until_s)


def is_of_fleet(place: Path) -> bool:
    """Whether it says that it is a `FleetRecording`; False also where it cannot be read."""
    with contextlib.suppress(UsageError):
        return _version(place, "") == FLEET.version
    return False


def of_rows(rows: Iterable[Row]) -> Iterator[Snapshot]:
    """The Snapshots of what a `Writer` of this process holds."""
    reader = _Rows(MACHINE)
    return (reader.read(*row) for row in rows)


class _Rows(Generic[R]):
    """Reads rows in turn; holds the newest key frame."""

    def __init__(self, kind: Kind[R]) -> None:
        self._kind = kind
        self._plain = decompressor()
        self._key: int | None = None
        self._after_key = self._plain

    def read(self, number: int, key: int | None, data: bytes) -> R:
        """Its reading.

        Raises:
            UnreadableError: it is damaged, or its key frame is.
        """
        if key is None:
            content = decompressed(self._plain, data, self._kind.most_bytes)
            self._key, self._after_key = number, decompressor(content)
        elif key != self._key:
            raise UnreadableError("its key frame is missing")
        else:
            content = decompressed(self._after_key, data, self._kind.most_bytes)
        return decoded(content, self._kind)


def _version(place: Path, name: str) -> int:
    """Of its schema, read before SQLite sees the file.

    Raises:
        UsageError: it cannot be read, or is not a recording.
    """
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
    return _number(header[_USER_VERSION])


def _check_version(version: int, kind: Kind[R], name: str) -> None:
    if version not in VERSIONS:
        reason = f"its schema is {version}, and this hwtop reads {' and '.join(map(str, VERSIONS))}"
        raise UsageError(f"{name} was written by another version of hwtop: {reason}")
    if version != kind.version:
        other = FLEET if kind is MACHINE else MACHINE
        raise UsageError(
            f"{name} is {other.words}, and not {kind.words}: use `hwtop replay`, with --diagnose or without"
        )


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
