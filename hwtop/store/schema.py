"""Schema of a recording, and what identifies one."""

from __future__ import annotations

try:
    import sqlite3
except ImportError:  # a Python built without SQLite's headers
    from hwtop.errors import CannotError

    raise CannotError("recordings need SQLite, and this Python was built without it") from None

APPLICATION_ID = 0x68777470
"""In the header of the file: "hwtp"."""
VERSION = 1
"""In the header as user_version. A higher one is refused; of a lower one the reader knows what was different."""
TABLES = (
    "CREATE TABLE snapshot (id INTEGER PRIMARY KEY, time_s REAL NOT NULL, key INTEGER, data BLOB NOT NULL)",
    "CREATE INDEX snapshot_time ON snapshot (time_s)",
)
"""`time_s`: seconds after the epoch. `key`: id of its key frame; NULL for that itself."""
Row = tuple[int, "int | None", bytes]
"""`id`, `key`, `data`."""
MOST_BYTES = 8 << 20
"""Of one Snapshot before compression; larger ones are not read. One of 8 ranks takes 60 to 140 KB."""

__all__ = ["APPLICATION_ID", "MOST_BYTES", "TABLES", "VERSION", "Row", "sqlite3"]
