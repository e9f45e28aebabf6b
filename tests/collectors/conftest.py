"""Fixtures of the collectors' tests."""

from __future__ import annotations

import pytest

from tests.collectors.file_owners import FileOwners


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> FileOwners:
    """hwtop runs as root, and the test decides whose files are."""
    return FileOwners(monkeypatch)
