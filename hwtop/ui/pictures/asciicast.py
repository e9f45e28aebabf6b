"""A recording as an asciicast v3, which asciinema plays and agg makes a GIF of (https://docs.asciinema.org/manual/asciicast/v3/).

One JSON value a line: a header, then [seconds since the event before, kind, text], kind "o" for output and "m" for a marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.pictures.screenshot import looks
from hwtop.ui.pictures.svg import Paint
from hwtop.ui.terminal.diff_writer import DiffWriter, Piece, Style
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells

_CLEAR = "\x1b[?25l\x1b[2J"
"""Hides the cursor, and clears the screen."""


def asciicast(
    frames: Iterable[Frame], size: tuple[int, int], options: ScreenOptions, page: str = "overview"
) -> Iterator[str]:
    """The text of the file, in parts: the screen of `size` (cells, rows) at each Snapshot, with a marker where a finding is raised."""
    styles = {role: _style(paint) for role, paint in looks(options.theme).items()}
    draw, raised = DiffWriter(), frozenset[str]()
    began_s = written_s = None
    for frame in frames:
        now_s = frame.derived.time_s
        if began_s is None:
            began_s, written_s = now_s, 0.0
            yield _header(size, now_s)
            yield _event(0.0, "o", _CLEAR)
        assert written_s is not None
        pause_s = round(now_s - began_s - written_s, 3)
        written_s += pause_s
        lines = picture(replace(options.opened(frame), page=page), *size)
        yield _event(pause_s, "o", draw(list(_pieces(lines, styles))))
        for finding in frame.findings:
            if finding.symptom not in raised:
                yield _event(0.0, "m", visible(f"{finding.severity}: {finding.title}"))
        raised = frozenset(finding.symptom for finding in frame.findings)


def _pieces(lines: list[Line], styles: dict[str, Style]) -> Iterator[Piece]:
    for row, line in enumerate(lines, start=1):
        column = 1
        for text, role in line.spans:
            yield row, column, text, styles[role]
            column += cells(text)


def _style(paint: Paint) -> Style:
    colours = (("bg", f"48;{_rgb(paint.background)}"), ("fg", f"38;{_rgb(paint.color)}"))
    return (("1", "1"), *colours) if paint.is_bold else colours


def _rgb(colour: str) -> str:
    """A colour of the theme in hexadecimal -> "2;10;20;30"."""
    return ";".join(["2", *(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))])


def _header(size: tuple[int, int], time_s: float) -> str:
    term = {"cols": size[0], "rows": size[1], "type": "xterm-256color"}
    return _json({"version": 3, "term": term, "timestamp": int(time_s), "title": "hwtop"})


def _event(pause_s: float, kind: str, text: str) -> str:
    return _json([pause_s, kind, text])


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode() + "\n"
