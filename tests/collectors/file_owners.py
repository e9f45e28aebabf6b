"""Whose files are, for tests that any user can run: only root may give files away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

STRANGER, OWNER = 65_533, 65_532


class FileOwners:
    """hwtop runs as root, and all files belong to root but those that were given away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._uids: dict[tuple[int, int], int] = {}
        self._fstat = os.fstat
        monkeypatch.setattr(os, "fstat", self._status)
        monkeypatch.setattr(os, "geteuid", lambda: 0)

    def give(self, path: Path, uid: int) -> None:
        """As chown(1)."""
        status = os.stat(path)
        self._uids[status.st_dev, status.st_ino] = uid

    def _status(self, fd: int) -> os.stat_result:
        status = self._fstat(fd)
        names = [name for name in dir(status) if name.startswith("st_")]
        values = list(status)
        values[4] = self._uids.get((status.st_dev, status.st_ino), 0)
        return os.stat_result(values, {name: getattr(status, name) for name in names})
