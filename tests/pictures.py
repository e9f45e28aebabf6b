"""Writes the pictures of the README: `python -m tests.pictures [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from hwtop.model.frame import Frame
from hwtop.ui.screenshot import png, svg
from hwtop.ui.view import Page
from tests import frames

FULL, SMALL = (160, 50), (80, 24)


def write(folder: Path) -> None:
    """One SVG and one PNG a picture."""
    hang = frames.hang()
    pictures: list[tuple[str, Frame, tuple[int, int], Page]] = [
        ("healthy", frames.healthy(), FULL, "overview"),
        ("input-bound", frames.input_bound(), FULL, "overview"),
        ("hang", hang, FULL, "overview"),
        ("gpu-lost", frames.gpu_lost(), FULL, "overview"),
        ("hang-stacks", hang, FULL, "stacks"),
        ("hang-80x24", hang, SMALL, "overview"),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame, size, page in pictures:
        drawn = svg(frame, size, page=page)
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(png(drawn))
        print(folder / f"{name}.svg", folder / f"{name}.png")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "screenshots")
