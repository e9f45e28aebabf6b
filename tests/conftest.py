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


def pytest_configure(config: pytest.Config) -> None:
    """A file that is named runs whole, with what is slow or real in it.

    Who runs the tests in the background of a script has the interrupt ignored, and children would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.option.markexpr == FAST and names_files(config):
        config.option.markexpr = ""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A file that is named runs in this process, where a debugger can stop it. Tests wait half of their time: two a core.

    Real jobs take cores of their own: three for two cores.
    """
    if names_files(config):
        return 0
    cores = len(os.sched_getaffinity(0))
    return min(8, 2 * cores if config.option.markexpr == FAST else cores + cores // 2)


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
