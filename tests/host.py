"""Where the recorded trees of /proc and /sys are, and a clock to read them by."""

from __future__ import annotations

from pathlib import Path

HOST = Path(__file__).parent / "data" / "host"


class Clock:
    """A monotonic clock that stands still until it is moved."""

    def __init__(self, at_s: float = 100.0) -> None:
        self.at_s = at_s

    def __call__(self) -> float:
        return self.at_s


def proc(tree: str, when: str | None = None) -> str:
    """Root of a recorded /proc."""
    return str(HOST / tree / (when or "") / "proc")


def sys(tree: str, when: str | None = None) -> str:
    """Root of a recorded /sys."""
    return str(HOST / tree / (when or "") / "sys")


def write_tree(root: Path, files: dict[str, str]) -> None:
    """A small tree for one test: text by path."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
