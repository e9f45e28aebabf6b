"""A picture of the screen as it is, to be shared: what is on it, over lines that say the verdict, and when and where it was taken."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from hwtop import __version__
from hwtop.errors import UsageError
from hwtop.job.secrets import Hidden
from hwtop.lazy_regex import lazy_regex
from hwtop.ui import marks
from hwtop.ui.pages.layout import arrange, drawn, picture
from hwtop.ui.pages.registry import NAMES, panel, turned
from hwtop.ui.pictures.html import to_html
from hwtop.ui.pictures.painted import png
from hwtop.ui.pictures.svg import Paint, to_svg
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import to_ascii, wrap

Format = Literal["png", "svg", "txt", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
_UNSAFE = lazy_regex(r"[^A-Za-z0-9_.-]+")


class Shot(Struct, frozen=True):
    """What is to be drawn of a view, and in which formats."""

    view: View
    size: tuple[int, int]
    """Cells and rows of the screen."""
    paints: Mapping[str, Paint]
    """Role -> how it looks."""
    formats: tuple[Format, ...] = ("png", "svg")
    panel: str = ""
    """Only this panel, as it is on the page; "" = the page."""
    has_all_pages: bool = False
    hidden: tuple[Hidden, ...] = ()
    """What is masked in addition to secrets; whoever saves the picture does it."""
    is_ascii: bool = False
    """No block or braille characters in text."""


def name(view: View) -> str:
    """Of its files, without suffix: "hwtop-20261123-225739-node3-4711"; without the PID where no job is watched."""
    derived = view.frame.derived
    when = time.strftime("%Y%m%d-%H%M%S", time.localtime(derived.time_s))
    pid = f"-{view.job.target_pid}" if view.job is not None else ""
    return f"hwtop-{when}-{_UNSAFE.sub('_', derived.host)}{pid}"


def files(shot: Shot) -> Iterator[tuple[str, bytes]]:
    """What comes after the name of each file, and its content: of all pages one file each, "-ranks.png".

    Raises:
        UsageError: the panel is not on the page.
    """
    if not shot.has_all_pages:
        yield from ((f".{form}", _content(shot, form)) for form in shot.formats)
        return
    for page in NAMES:
        there = replace(shot, view=turned(shot.view, page))
        yield from ((f"-{page}.{form}", _content(there, form)) for form in shot.formats)


def _content(shot: Shot, form: Format) -> bytes:
    lines, title = _lines(shot, is_whole=form == "txt"), f"hwtop: {shot.view.frame.verdict.text}"
    ground = shot.paints["text"].background
    if form == "txt":
        text = "\n".join(line.text.rstrip() for line in lines).rstrip() + "\n"
        return (to_ascii(text) if shot.is_ascii else text).encode(errors="replace")
    if form == "html":
        return to_html(lines, shot.paints, ground, title).encode(errors="replace")
    drawing = to_svg(lines, shot.paints, ground, title)
    return png(drawing) if form == "png" else drawing.encode(errors="replace")


def _lines(shot: Shot, *, is_whole: bool) -> list[Line]:
    """Of the page or a panel, and the caption. A text has no need to end where the screen does: `is_whole` is all rows of a panel."""
    view, size = replace(shot.view, note=""), shot.size
    if not shot.panel:
        return [*_without_keys(view, size), *_caption(view, size[0])]
    places = arrange(view, *size)
    if shot.panel not in places:
        raise UsageError(f"no panel {shot.panel!r} on this page: it has {', '.join(sorted(places))}")
    found = panel(view, shot.panel)
    if is_whole and found is not None and found.hidden is not None:
        view = replace(view, scroll=0)
        place = places[shot.panel]
        more = found.hidden(view, place.width, place.height)
        places = {**places, shot.panel: replace(place, height=place.height + more)}
    lines = drawn(view, shot.panel, places)
    return [*lines, *_caption(view, places[shot.panel].width)]


def _without_keys(view: View, size: tuple[int, int]) -> list[Line]:
    """The page without its last row: nobody can press a key in a picture."""
    lines, keys = picture(view, *size), arrange(view, *size).get("footer")
    return lines if keys is None else lines[: keys.y]


def _caption(view: View, width: int) -> list[Line]:
    """Readable without the screen above it, e.g. below a single panel."""
    frame = view.frame
    when = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(frame.derived.time_s))
    said = f"{' '.join(marks.VERDICT[frame.verdict.level])}: {frame.verdict.text}"
    verdict = [Line(f" {piece}", "strong").fitted(width) for piece in wrap(said, max(1, width - 2))]
    return [*verdict, Line(f" hwtop {__version__} · {frame.derived.host} · {when}", "dim").fitted(width)]
