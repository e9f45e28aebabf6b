"""Schema of a recording, and what identifies one."""

from __future__ import annotations

try:
    import sqlite3
except ImportError:  # a Python built without SQLite's headers
    from hwtop.errors import CannotError

    raise CannotError("recordings need SQLite, and this Python was built without it") from None

APPLICATION_ID = 0x68777470
"""In the header of the file: "hwtp"."""
TABLES = (
    "CREATE TABLE snapshot (id INTEGER PRIMARY KEY, time_s REAL NOT NULL, key INTEGER, data BLOB NOT NULL)",
    "CREATE INDEX snapshot_time ON snapshot (time_s)",
)
"""The same for all kinds. `time_s`: seconds after the epoch. `key`: id of its key frame; NULL for that itself."""
Row = tuple[int, "int | None", bytes]
"""`id`, `key`, `data`."""

__all__ = ["APPLICATION_ID", "TABLES", "Row", "sqlite3"]
