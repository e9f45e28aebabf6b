"""Writes the pictures of the README: `python -m tests.pictures [FOLDER]`, from the recordings in tests/data."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from hwtop.model.frame import Frame
from hwtop.ui.screenshot import png, svg
from hwtop.ui.view import Page
from tests.recording import replay

FULL, SMALL = (160, 50), (80, 24)

PICTURES: tuple[tuple[str, str, tuple[int, int], Page], ...] = (
    ("healthy", "healthy", FULL, "overview"),
    ("input-bound", "input-bound", FULL, "overview"),
    ("hang", "hang", FULL, "overview"),
    ("gpu-lost", "gpu-lost", FULL, "overview"),
    ("hang-stacks", "hang", FULL, "stacks"),
    ("hang-ranks", "hang", FULL, "ranks"),
    ("input-bound-flame", "input-bound", FULL, "flame"),
    ("healthy-curves", "healthy", FULL, "curves"),
    ("hang-symptoms", "hang", FULL, "symptoms"),
    ("healthy-host", "healthy", FULL, "host"),
    ("gpus", "gpu-errors", FULL, "gpu"),
    ("gpus-80x24", "gpu-errors", SMALL, "gpu"),
    ("hang-80x24", "hang", SMALL, "overview"),
)
"""(file name, recording, columns and rows, page)."""


def write(folder: Path) -> None:
    """One SVG and one PNG a picture: the last moment of each recording."""
    os.environ["TZ"] = "UTC"  # the clock on the picture must not depend on who draws it
    time.tzset()
    last: dict[str, Frame] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, recording, size, page in PICTURES:
        if recording not in last:
            last[recording] = replay(recording)[-1]
        frame = last[recording]
        drawn = svg(frame, size, page=page)
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(png(drawn))
        print(folder / f"{name}.svg", folder / f"{name}.png")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "screenshots")
