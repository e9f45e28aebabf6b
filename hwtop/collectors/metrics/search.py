"""Metrics files in the folders that the job works in: a bounded search, the folders changed last first."""

from __future__ import annotations

import heapq
import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from hwtop.job.metrics.files import identity, is_worth_reading, kind_of
from hwtop.job.metrics.owner import Found

_DEPTH = 6
"""Folders below a starting point: mlruns/EXPERIMENT/RUN/metrics/train/loss is 5 deep, and Hydra adds two."""
_MOST_ENTRIES = 4000
_MOST_S = 1.0
"""Of one search, wall time: an NFS server may take its time for each folder."""
_SLACK_S = 2.0
"""File systems keep times to the second, and other machines' clocks differ."""
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "proc", "sys", "dev"})


def search(
    folders: Iterable[str], files: Iterable[str], root: str, since_s: float, now: Callable[[], float] = time.monotonic
) -> list[Found]:
    """Metrics files below `folders`, and `files` themselves, the newest first.

    `root` stands before each path: "" or /proc/PID/root. May block for ever on a dead mount. Never raises.
    """
    found = {path: each for path in files if (each := _file(path, root, since_s, is_written=True)) is not None}
    heap: list[tuple[float, int, str]] = []
    seen: set[tuple[int, int]] = set()
    for folder in dict.fromkeys(folders):
        _push(heap, seen, folder, 0, root)
    left, end_s = _MOST_ENTRIES, now() + _MOST_S
    while heap and left > 0 and now() < end_s:
        _, depth, folder = heapq.heappop(heap)
        try:
            with os.scandir(f"{root}{folder}") as entries:
                for entry in entries:
                    left -= 1
                    if left <= 0:
                        break
                    _take(entry, folder, depth, root, since_s, heap, seen, found)
        except OSError:
            continue
    return _distinct(found.values())


def _take(
    entry: os.DirEntry[str],
    folder: str,
    depth: int,
    root: str,
    since_s: float,
    heap: list[tuple[float, int, str]],
    seen: set[tuple[int, int]],
    found: dict[str, Found],
) -> None:
    path = f"{folder.rstrip('/')}/{entry.name}"
    with suppress(OSError):
        if entry.is_symlink() and (root or not entry.is_dir()):
            return  # inside a container an absolute link leads elsewhere
        if entry.is_dir():
            if depth < _DEPTH and not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                _push(heap, seen, os.path.realpath(path) if entry.is_symlink() else path, depth + 1, root)
        elif kind_of(path) is not None and path not in found:
            each = _file(path, root, since_s)
            if each is not None:
                found[path] = each


def _push(heap: list[tuple[float, int, str]], seen: set[tuple[int, int]], folder: str, depth: int, root: str) -> None:
    with suppress(OSError):
        status = os.stat(f"{root}{folder}")
        key = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode) and key not in seen and folder != "/":
            seen.add(key)
            heapq.heappush(heap, (-status.st_mtime, depth, folder))


def _file(path: str, root: str, since_s: float, *, is_written: bool = False) -> Found | None:
    kind = kind_of(path, is_written=is_written)
    if kind is None or not is_worth_reading(path, kind):
        return None
    try:
        status = os.stat(f"{root}{path}")
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_mtime < since_s - _SLACK_S:
        return None
    console = f"{os.path.dirname(path)}/files/output.log" if kind == "wandb" else None
    has_console = console is not None and os.path.isfile(f"{root}{console}")
    return Found(path, kind, status.st_mtime, console if has_console else None)


def _distinct(found: Iterable[Found]) -> list[Found]:
    """The newest of each file that comes in versions; W&B's summary only where its history is not there."""
    newest = sorted(found, key=lambda each: -each.modified_s)
    runs = {os.path.dirname(each.path) for each in newest if each.kind == "wandb"}
    kept: dict[str, Found] = {}
    for each in newest:
        if each.kind != "wandb-summary" or os.path.dirname(os.path.dirname(each.path)) not in runs:
            kept.setdefault(identity(each.path), each)
    return list(kept.values())
