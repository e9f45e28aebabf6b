"""The Python interpreters of this machine that py-spy must be able to read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_MINORS = range(10, 15)
_FOLDERS = ("~/.pyenv/versions", "~/.local/share/uv/python", "/opt/hostedtoolcache/Python")


def interpreters() -> dict[str, str]:
    """ "3.12" -> path: the running one, and what PATH, pyenv, uv and GitHub's tool cache hold."""
    found = {f"3.{sys.version_info.minor}": sys.executable}
    for minor in _MINORS:
        for path in _candidates(minor):
            if f"3.{minor}" not in found and _runs(path, minor):
                found[f"3.{minor}"] = path
    return dict(sorted(found.items()))


def _candidates(minor: int) -> list[str]:
    name = f"python3.{minor}"
    beside = [
        str(path)
        for folder in _FOLDERS
        for depth in ("*", "*/*")
        for path in sorted(Path(folder).expanduser().glob(f"{depth}/bin/{name}"))
    ]
    on_path = shutil.which(name)
    return beside + ([on_path] if on_path else [])


def _runs(path: str, minor: int) -> bool:
    try:
        reported = subprocess.run(
            [path, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return reported.stdout.decode().strip() == str(minor)
