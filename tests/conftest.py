"""Fixtures for all tests, and which tests run when none is named."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.fakenvml.fixture import fake_nvml, new_nvml, nvml_library, old_nvml

__all__ = ["fake_nvml", "new_nvml", "nvml_library", "old_nvml"]

FAST = "not slow and not real"
"""What `pytest` alone runs, as `addopts` in pyproject.toml says."""
_WAITING_DONE = 0.8
"""Of the other files that have begun by then, all of those with real jobs have, too."""


def pytest_configure(config: pytest.Config) -> None:
    """A file that is named runs whole, with what is slow or real in it.

    Who runs the tests in the background of a script has the interrupt ignored, and children would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.option.markexpr == FAST and names_files(config):
        config.option.markexpr = ""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A file that is named runs in this process, where a debugger can stop it. Tests wait half of their time: two a core."""
    return 0 if names_files(config) else min(8, 2 * len(os.sched_getaffinity(0)))


def names_files(config: pytest.Config) -> bool:
    """Whether files or tests were asked for, and no folders."""
    files = [Path(argument.partition("::")[0]) for argument in config.args]
    return bool(files) and all(file.is_file() for file in files)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs on the fake driver is real: a C compiler has to build it."""
    for item in items:
        if "nvml_library" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.real)
    items[:] = spread(items)


def spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Files with real jobs, which mostly wait, among those that compute, so that the cores are busy all the time. None of the former
    comes last, where the other workers would have nothing left to do."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    kinds: tuple[list[Path], list[Path]] = ([], [])
    for path, tests in files.items():
        kinds[any(map(is_slow, tests))].append(path)
    at = {
        path: place / len(kind) * share
        for kind, share in zip(kinds, (1.0, _WAITING_DONE), strict=True)
        for place, path in enumerate(kind)
    }
    return [item for path in sorted(files, key=at.__getitem__) for item in files[path]]


def is_slow(item: pytest.Item) -> bool:
    """It waits for a job, or computes for more than a second."""
    return any(item.get_closest_marker(name) for name in ("real", "slow"))
