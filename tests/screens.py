"""The screens that are kept as text in tests/data/screens: `python -m tests.screens` draws all of them anew.

From recordings of real jobs, so a difference is one that a person sees. `tests/ui/test_snapshots.py` tells it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from msgspec.structs import replace

from hwtop.config import Config
from hwtop.feed.feed import frames as judged
from hwtop.model.frame import Frame
from hwtop.ui import help_lines, palette, themes
from hwtop.ui.input import keyboard as moves
from hwtop.ui.pages import registry
from hwtop.ui.pages import settings as settings_page
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.pictures.screenshot import text
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line
from tests import fleets, frames
from tests.recording import load
from tests.worn import themed

FOLDER = Path(__file__).parent / "data" / "screens"
ANEW = "python -m tests.screens"
SIZES = ((80, 24), (120, 40), (200, 60))
_HANG = "hang"
_OWN_SICK: dict[str, str] = {
    "flame": "input-bound",
    "curves": "input-bound",
    "gpu": "gpu-errors",
    "host": "input-bound",
    "logs": "oom",
}
"""Pages that have more to show of another job than of one that hangs."""
_STUCK_RANK = 5
_FULL_RANK = 1
"""Whose GPU is out of memory."""
_AGO_S = 85.0
"""Before the ranks of that job stood still."""
_SETTINGS_FILE = "~/.config/hwtop/config.toml"

Draw = Callable[[], str]


@contextmanager
def in_utc() -> Iterator[None]:
    """Times of day as they are there: they must not depend on where the pictures are drawn."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


@cache
def reported(recording: str) -> list[Frame]:
    """A recording, as hwtop judges it now; anew, as others may have replayed it in another time zone."""
    return list(judged(load(recording)))


def last(recording: str) -> Frame:
    """Its last moment."""
    return reported(recording)[-1]


def sick(page: str, size: tuple[int, int]) -> View:
    """A job that is ill, as somebody looks at it who wants to know why."""
    if page == "fleet":
        return fleet(256)
    view = View(frame=last(_OWN_SICK.get(page, _HANG)), page=page)
    if page == "curves":
        return view.with_state(CurvesState("step_time_s"))
    if page == "logs":
        flagged = moves.pressed(replace(view, selected=_FULL_RANK), "previous-flagged", size)
        return moves.chosen(flagged, size)
    return replace(view, selected=_STUCK_RANK) if page == "processes" else view


def healthy(page: str) -> View:
    """A job that is well."""
    if page == "fleet":
        return registry.first(View(frame=fleets.healthy(64)))
    return View(frame=last("healthy"), page=page)


def fleet(nodes: int) -> View:
    """A job over so many nodes that hangs, with a few nodes that are ill."""
    return registry.first(View(frame=fleets.sick(nodes)))


def past() -> View:
    """The hang before it was one, while newer pictures are there."""
    story = reported(_HANG)
    view = View(frame=story[0])
    for frame in story:
        view = time_moves.arrived(view, frame)
    return time_moves.sought(view, story[-1].derived.time_s - _AGO_S)


def no_job() -> View:
    """hwtop without a PID: the jobs to choose from."""
    return View(frame=frames.picker(), is_first=True)


def _page(page: str, size: tuple[int, int]) -> str:
    return _joined(picture(sick(page, size), *size))


def _fleet(nodes: int, size: tuple[int, int]) -> str:
    return _joined(picture(fleet(nodes), *size))


def _no_job() -> str:
    return _joined(picture(no_job(), *SIZES[0]))


def _past() -> str:
    return _joined(picture(past(), *SIZES[0]))


def _ascii() -> str:
    return text(View(frame=last(_HANG)), SIZES[0], ascii=True)


def _help() -> list[Line]:
    return help_lines.draw(View(frame=last(_HANG)), (160, 50)).lines


def _palette() -> list[Line]:
    """In the midst of typing; without the themes that the toolkit brings, which change with it."""
    entries = palette.entries(View(frame=last(_HANG)), tuple(themes.OWN))
    return palette.draw(palette.found(entries, "ra"), 1, "ra", (100, 30))[0]


def _settings() -> list[Line]:
    view = SettingsView(Config(), Config())
    return settings_page.draw(view, _SETTINGS_FILE, *settings_page.size(view, 100, 30))


DIALOGS: dict[str, Callable[[], list[Line]]] = {"help": _help, "palette": _palette, "settings": _settings}
"""What stands over a page."""


def _dialog(name: str) -> str:
    return _joined(DIALOGS[name]())


def _joined(lines: list[Line]) -> str:
    return "".join(line.text.rstrip() + "\n" for line in lines)


@cache
def _worn() -> dict[str, str]:
    return themed(last(_HANG), SIZES[0])


def _theme(name: str) -> str:
    return _worn()[name]


SCREENS: dict[str, Draw] = {
    **{f"{page}-{size[0]}x{size[1]}": partial(_page, page, size) for page in PAGES for size in SIZES},
    **{f"fleet-few-{size[0]}x{size[1]}": partial(_fleet, 4, size) for size in SIZES},
    "ascii": _ascii,
    "past": _past,
    "no-job": _no_job,
    **{name: partial(_dialog, name) for name in DIALOGS},
    **{f"theme-{name}": partial(_theme, name) for name in themes.OWN},
}
"""Name of the file -> what is in it."""


def file_of(name: str) -> Path:
    """Where the screen of this name is kept."""
    return FOLDER / f"{name}.txt"


def write() -> None:
    """All of them, and none that is no longer meant."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    with in_utc():
        for name, draw in SCREENS.items():
            file_of(name).write_text(draw(), encoding="utf-8")
    print(f"{len(SCREENS)} screens in {FOLDER}; `git diff {FOLDER}` shows what is new")


if __name__ == "__main__":
    write()
