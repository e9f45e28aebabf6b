"""Environment of a job: versions of what it runs on, and its variables as the collectors keep them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hwtop import __version__
from hwtop.collectors.process.files import read_bytes
from hwtop.model.process import ProcessInfo
from hwtop.model.snapshot import Snapshot

_MOST_PACKAGES = 3000
_MOST_PROCESSES = 64
_MAPPED = re.compile(rb"\s(/\S*?/(?:site|dist)-packages)/")
"""The folder of a library that the process has loaded (/proc/PID/maps)."""
_METADATA = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)\.dist-info")
"""PyPA "Recording installed projects"."""


def environment(snapshot: Snapshot, proc: str = "/proc") -> dict[str, Any]:
    """Versions and variables; packages are read from the names of their metadata, nothing is imported."""
    processes = snapshot.process.processes if snapshot.process is not None else ()
    told = [process for process in processes if process.env]
    roots = {f"{proc}/{process.pid}/root": process for process in told[:_MOST_PROCESSES]}
    folders = {folder: root for root, process in roots.items() for folder in _folders(process, f"{proc}/{process.pid}")}
    packages = sorted({package for folder, root in folders.items() for package in _packages(root + folder)})
    return {
        "hwtop": __version__,
        "os": _system_name(),
        "kernel": os.uname().release,
        "machine": os.uname().machine,
        "gpu_driver": snapshot.gpu.driver if snapshot.gpu is not None else None,
        "python": sorted({process.exe for process in told if process.exe}),
        "site_packages": sorted(folders),
        "packages": packages[:_MOST_PACKAGES],
        "variables": {str(process.pid): process.env for process in told[:_MOST_PROCESSES]},
    }


def _system_name() -> str:
    with suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return platform.platform()


def _folders(process: ProcessInfo, directory: str) -> Iterator[str]:
    """Of installed packages, as the process sees them; hwtop sees them below its root."""
    with suppress(OSError):
        yield from map(os.fsdecode, _MAPPED.findall(read_bytes(f"{directory}/maps")))
    first = process.cmdline[0] if process.cmdline else ""
    if first.startswith("/"):
        place = Path(f"{directory}/root{first}").parent.parent / "lib"
        for found in place.glob("python3*/site-packages"):
            yield str(found).removeprefix(f"{directory}/root")


def _packages(folder: str) -> Iterator[str]:
    with suppress(OSError):
        for entry in os.listdir(folder):
            found = _METADATA.fullmatch(entry)
            if found is not None:
                yield f"{found['name']} v{found['version']}"  # with "==", asttokens would be masked
