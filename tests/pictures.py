"""Makes the gallery: `python -m tests.pictures [FOLDER]` draws every page of healthy and of sick jobs, from the recordings in
tests/data, as SVG and PNG.

The names go by a rule: PAGE-healthy, PAGE-sick, PAGE-sick-80x24, theme-NAME, and one for each thing over a page.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PIL import Image

from hwtop.ui import themes
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.pictures.painted import png
from hwtop.ui.pictures.screenshot import drawing, svg
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from tests import screens

GALLERY = Path(__file__).parent.parent / "screenshots"
FULL, MIDDLE, SMALL = (160, 50), (120, 40), (80, 24)
_MAIN: tuple[str, ...] = ("overview", "ranks", "stacks", "gpu", "symptoms")
"""Pages that are shown small, too."""
_COLOURS = 128
"""Of a PNG: less than half the bytes of true colour, and the eye sees no difference."""

WEB = "web"
"""The one that `tests.web_picture` makes."""

Draw = Callable[[], str]


def _healthy(page: str) -> str:
    return svg(screens.healthy(page), FULL)


def _sick(page: str, size: tuple[int, int] = FULL) -> str:
    return svg(screens.sick(page, size), size)


def _overview(recording: str) -> str:
    return svg(View(frame=screens.last(recording)), FULL)


def _theme(name: str) -> str:
    return svg(View(frame=screens.last("gpu-errors")), MIDDLE, theme=name)


def _no_job() -> str:
    return svg(screens.no_job(), MIDDLE)


def _past() -> str:
    return svg(screens.past(), FULL)


def _over_page(draw: Callable[[], list[Line]]) -> str:
    """A dialog in the middle of a page, which is veiled."""
    dialog = draw()
    frame = screens.last("hang")
    page = [line.text for line in picture(View(frame=frame), *FULL)]
    left, top = (FULL[0] - dialog[0].width) // 2, (FULL[1] - len(dialog)) // 2
    lines = [Line(text, "dim") for text in page]
    for y, line in enumerate(dialog, top):
        lines[y] = Line(page[y][:left], "dim").extend(line).add(page[y][left + line.width :], "dim")
    return drawing(lines, f"hwtop: {frame.verdict.text}")


PICTURES: dict[str, Draw] = {
    **{f"{page}-healthy": partial(_healthy, page) for page in PAGES},
    **{f"{page}-sick": partial(_sick, page) for page in PAGES},
    **{f"{page}-sick-80x24": partial(_sick, page, SMALL) for page in _MAIN},
    **{f"overview-{recording}": partial(_overview, recording) for recording in ("input-bound", "gpu-lost")},
    **{f"theme-{name}": partial(_theme, name) for name in themes.OWN},
    "past": _past,
    "no-job": _no_job,
    **{name: partial(_over_page, lines) for name, lines in screens.DIALOGS.items()},
}
"""Name -> the SVG."""


def folder() -> Path:
    """The one that is meant on the command line."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else GALLERY


def write(place: Path) -> None:
    """All of them, and none of those that this made once and makes no more."""
    place.mkdir(parents=True, exist_ok=True)
    for file in (*place.glob("*.svg"), *place.glob("*.png")):
        if file.stem not in (*PICTURES, WEB):
            file.unlink()
    total = 0
    with screens.in_utc():
        for name, draw in PICTURES.items():
            drawn = draw()
            for suffix, data in ((".svg", drawn.encode()), (".png", packed(png(drawn)))):
                (place / f"{name}{suffix}").write_bytes(data)
                total += len(data)
            print(place / name)
    print(f"{len(PICTURES)} pictures, {total / 1e6:.1f} MB")


def packed(data: bytes) -> bytes:
    """The same PNG with a table of colours, transparent corners filled."""
    drawn = Image.open(io.BytesIO(data)).convert("RGBA")
    image = Image.new("RGB", drawn.size, drawn.getpixel((drawn.width // 2, 1)))
    image.paste(drawn, mask=drawn)
    file = io.BytesIO()
    image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    write(folder())
