"""Draws the overview in each own theme, as all kinds of eyes see it: `python -m tests.theme_pictures FOLDER [RECORDING]`.

For looking at: whether what is wrong still stands out is nothing that a test can tell.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hwtop.ui import themes
from hwtop.ui.pictures.painted import png
from hwtop.ui.pictures.screenshot import svg
from hwtop.ui.view import View
from tests.recording import replay
from tests.ui.colour_vision import KINDS, seen


def write(folder: Path, recording: str) -> None:
    """One PNG a theme and kind of eyes."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = replay(recording)[-1]
    for theme in themes.OWN:
        drawn = svg(View(frame=frame), (120, 40), theme=theme)
        for kind in KINDS:
            file = folder / f"{recording}-{theme}-{kind}.png"
            as_seen = re.sub("#[0-9a-f]{6}", lambda tone: seen(tone[0], kind), drawn)  # noqa: B023  # used at once
            file.write_bytes(png(as_seen))
            print(file)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "gpu-errors")
