"""Since when a file can hold what stands in it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.logs import origin
from hwtop.collectors.logs.origin import born_s, content_since_s

BOOT_S = 1_000_000.0
LOG = "/runs/all.log"
WRITE, APPEND, READ = "0100001", "0102001", "0100000"
"""Open flags as fdinfo shows them, octal: O_WRONLY, with O_APPEND, O_RDONLY."""


def put(proc: Path, pid: int, parent: int, started_s: float, *files: tuple[int, str, str]) -> None:
    """A process with descriptors of (number, path, flags)."""
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "fdinfo").mkdir()
    ticks = round((started_s - BOOT_S) * os.sysconf("SC_CLK_TCK"))
    (folder / "stat").write_text(f"{pid} (python) S {parent} {'0 ' * 17}{ticks}\n")
    for number, path, flags in files:
        (folder / "fd" / str(number)).symlink_to(path)
        (folder / "fdinfo" / str(number)).write_text(f"pos:\t0\nflags:\t{flags}\nmnt_id:\t1\n")


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "log").write_text("step 1\n")
    descriptor = os.open(tmp_path / "log", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_a_new_file_was_born_now(fd: int) -> None:
    at_s = born_s(fd)
    assert at_s is None or abs(at_s - time.time()) < 600


@pytest.mark.parametrize(
    ("born", "above", "own", "since_s"),
    [
        (None, [], WRITE, BOOT_S + 500),  # the launcher opened it anew
        (None, [(1, LOG, WRITE)], WRITE, BOOT_S + 100),  # the script above it prints there, too
        (None, [(7, LOG, WRITE)], WRITE, BOOT_S + 100),
        (None, [(1, "/runs/other.log", WRITE), (0, LOG, READ)], WRITE, BOOT_S + 500),
        (None, [(1, LOG, APPEND)], WRITE, float("-inf")),
        (None, [], APPEND, float("-inf")),
        (BOOT_S + 499, [(1, LOG, APPEND)], APPEND, BOOT_S + 499),  # appended to, but only just made
        (BOOT_S + 10, [], WRITE, BOOT_S + 500),  # made by an earlier run, emptied by this one
    ],
)
def test_who_has_it_open_and_its_birth_tell(
    born: float | None,
    above: list[tuple[int, str, str]],
    own: str,
    since_s: float,
    fd: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(origin, "born_s", lambda _: born)
    proc = tmp_path / "proc"
    put(proc, 10, 1, BOOT_S + 100, *above)
    put(proc, 20, 10, BOOT_S + 500, (1, LOG, own), (2, LOG, own))
    assert content_since_s(LOG, fd, [20], str(proc), BOOT_S) == pytest.approx(since_s)


def test_where_nothing_can_be_seen_the_text_may_be_of_any_age(
    fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "born_s", lambda _: None)
    assert content_since_s(LOG, fd, [20], str(tmp_path / "nowhere"), BOOT_S) == float("-inf")
