"""A picture of the screen as it is, to be shared: its name, and the screen over a line that says when and where it was taken."""

from __future__ import annotations

import re
import time

from hwtop import __version__
from hwtop.ui.pages.layout import picture
from hwtop.ui.pictures.svg import Paint, to_svg
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def name(view: View) -> str:
    """Of its files, without suffix: "hwtop-20261123-225739-node3-4711"; without the PID where no job is watched."""
    derived = view.frame.derived
    when = time.strftime("%Y%m%d-%H%M%S", time.localtime(derived.time_s))
    pid = f"-{view.job.target_pid}" if view.job is not None else ""
    return f"hwtop-{when}-{_UNSAFE.sub('_', derived.host)}{pid}"


def svg(view: View, size: tuple[int, int], paints: dict[str, Paint]) -> str:
    """What is on a screen of `size` (cells, rows)."""
    derived = view.frame.derived
    when = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(derived.time_s))
    below = Line(f" hwtop {__version__} · {derived.host} · {when}", "dim").fitted(size[0])
    lines = [*picture(view, *size), below]
    return to_svg(lines, paints, paints["text"].background, f"hwtop: {view.frame.verdict.text}")
