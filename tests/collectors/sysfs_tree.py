"""Builds trees of /sys and /proc from their short form in tests/data/gpu_*/*.tree.

Lines of a .tree file: "@ FOLDER" says where the next files lie, "NAME" begins a file, lines with a tab are its text,
"NAME -> FOLDER" is a symbolic link, "#" begins a comment. Folders are counted from the root of the tree. "{word}" is filled in
by the caller, so that one file makes several devices.
"""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


def plant(root: Path, tree: str, **words: object) -> None:
    """Build one .tree file below `root`; `tree` is its path below tests/data."""
    text = (DATA / tree).read_text()
    for word, value in words.items():
        text = text.replace("{" + word + "}", str(value))
    folder = root
    path: Path | None = None
    for line in text.splitlines():
        if line.startswith("\t"):
            assert path is not None, line
            with path.open("a") as file:
                file.write(line[1:] + "\n")
        elif line.startswith("@ "):
            folder = root / line[2:]
            folder.mkdir(parents=True, exist_ok=True)
        elif " -> " in line:
            name, _, target = line.partition(" -> ")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(os.path.relpath(root / target, (folder / name).parent))
        elif line and not line.startswith("#"):
            path = folder / line
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")


def drm_process(root: Path, pid: int, **fdinfo: str) -> None:
    """A process with open DRM files: text of /proc/PID/fdinfo/N by "fdN"."""
    folder = root / "proc" / str(pid)
    for name in ("fd", "fdinfo"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    others = {"fd0": "/dev/null"} | dict.fromkeys(fdinfo, "/dev/dri/renderD128")
    for name, target in others.items():
        link = folder / "fd" / name[2:]
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        (folder / "fdinfo" / name[2:]).write_text("pos:\t0\nflags:\t02100002\n" + fdinfo.get(name, ""))
