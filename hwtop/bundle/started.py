"""How a job was started: its processes, and the git commit of the folder that it runs in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from hwtop.collectors.child import Children
from hwtop.collectors.found_file import open_found, unreadable_for
from hwtop.errors import CannotError
from hwtop.model.process import ProcessInfo, ProcessReading

_MOST_PROCESSES = 256
_MOST_CHANGES = 200
_MOST_FILES = 32
_MOST_FILE_BYTES = 256 << 10
_SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
"""How names of settings end."""
_GIT_S = 5.0
_GIT = (
    "env",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_ALLOW_PROTOCOL=none",
    "git",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
)
"""Writes nothing, fetches nothing, and starts no program that the repository names."""


def command_lines(processes: ProcessReading) -> dict[str, Any]:
    """Of the first processes of the job, as their command lines and folders were read."""
    return {
        "target_pid": processes.target_pid,
        "root_pid": processes.root_pid,
        "processes": [
            {
                "pid": process.pid,
                "ppid": process.ppid,
                "command": process.cmdline,
                "cwd": process.cwd,
                "exe": process.exe,
                "cgroup": process.cgroup,
            }
            for process in processes.processes[:_MOST_PROCESSES]
        ],
        "ended": processes.gone,
    }


def config_files(processes: ProcessReading) -> dict[str, str]:
    """Name of a member -> content of each file of settings that a command line names, as far as its user may read it."""
    found: dict[str, str] = {}
    for process in processes.processes[:_MOST_PROCESSES]:
        for path in _named(process):
            name = f"config/{path.lstrip('/')}"
            if name in found or len(found) >= _MOST_FILES:
                continue
            with contextlib.suppress(OSError):
                found[name] = _read(path, process.uid)
    return found


def _named(process: ProcessInfo) -> Iterator[str]:
    """As the value of an option too: --config=run.yaml, +file.json."""
    for argument in process.cmdline or ():
        word = argument.rpartition("=")[2].lstrip("@+")
        if word.endswith(_SETTINGS) and (word.startswith("/") or process.cwd is not None):
            yield os.path.normpath(os.path.join(process.cwd or "/", word))


def _read(path: str, uid: int | None) -> str:
    """Raises OSError: it cannot be read, or is larger than settings are."""
    fd = open_found(path, uid, unreadable_for)
    try:
        content = os.pread(fd, _MOST_FILE_BYTES + 1, 0)
    finally:
        os.close(fd)
    if len(content) > _MOST_FILE_BYTES:
        raise OSError("larger than a file of settings")
    return content.decode(errors="replace")


def git_state(pid: int) -> dict[str, Any]:
    """Commit and changed files of the folder that the process works in.

    Only what compares file status and the index: contents of files are not read, so that no filter of the repository runs. git itself
    refuses a repository of another user.

    Raises:
        CannotError: there is no repository, no git, or git refuses.
    """
    folder = f"/proc/{pid}/cwd"
    children = Children()
    commit = _git(children, folder, "rev-parse", "HEAD")[0]
    changed = _git(children, folder, "diff-files", "--name-status", "--ignore-submodules=all")
    staged = _git(children, folder, "diff-index", "--cached", "--name-status", "--ignore-submodules=all", "HEAD")
    return {
        "commit": commit,
        "branch": _git(children, folder, "rev-parse", "--abbrev-ref", "HEAD")[0],
        "is_dirty": bool(changed or staged),
        "changed_since_checkout": changed[:_MOST_CHANGES],
        "staged": staged[:_MOST_CHANGES],
    }


def _git(children: Children, folder: str, *arguments: str) -> Sequence[str]:
    ended = children.run((*_GIT, "-C", folder, *arguments), _GIT_S)
    if ended.status != 0:
        reason = ended.err.strip().splitlines()[:1] or ["git did not answer in time"]
        raise CannotError(reason[0])
    return ended.out.decode(errors="replace").splitlines() or [""] * (arguments[0] == "rev-parse")
