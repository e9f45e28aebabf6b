"""The keys that save pictures of the screen."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.commands.shared import pictures
from hwtop.errors import CannotError, HwtopError, UsageError
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import PictureSaved, ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES, turned
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.pictures import shot as shots
from hwtop.ui.pictures.screenshot import looks
from hwtop.ui.pictures.shot import Shot
from hwtop.ui.view import View
from tests import frames
from tests.job.test_secret_kinds import KINDS
from tests.store.sessions import at, flooded, hang
from tests.ui.test_app import FakeFeed, drive, screen_text

SVG = "{http://www.w3.org/2000/svg}"
Result = Sequence[Path] | HwtopError


def options(result: Result, taken: list[Shot]) -> ScreenOptions:
    def save(shot: Shot, saved: PictureSaved) -> None:
        taken.append(shot)
        saved(result)

    return ScreenOptions(save_picture=save)


def footer_after(given: ScreenOptions | None, *keys: str) -> tuple[str, list[str]]:
    """What the last row says after the keys, and what went to the clipboard."""
    said: list[Any] = []
    copied: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.copy_to_clipboard = copied.append  # type: ignore[assignment, method-assign]
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        said.append(" ".join(screen_text(app)[-1].split()))

    drive(act, frames.hang(), options=given)
    return said[0], copied


def shot_of(view: View, **changes: Any) -> Shot:
    return replace(Shot(view, (120, 40), looks("hwtop")), **changes)


def texts(shot: Shot) -> dict[str, str]:
    return {ending: content.decode() for ending, content in shots.files(shot)}


def words_of(svg: str) -> str:
    """What is written in the picture, as it is read."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}text")
    lines: dict[float, list[tuple[float, str]]] = {}
    for node in found:
        lines.setdefault(float(node.attrib["y"]), []).append((float(node.attrib["x"]), node.text or ""))
    return "\n".join(" ".join(text for _, text in sorted(parts)) for _, parts in sorted(lines.items()))


def test_the_screen_is_saved_with_one_key_and_its_path_copied() -> None:
    taken: list[Shot] = []
    said, copied = footer_after(options([Path("/home/me/hwtop-1.png"), Path("/home/me/hwtop-1.svg")], taken), "s")
    assert said.endswith("saved, and its path sent to the clipboard: /home/me/hwtop-1.png and .svg")
    assert copied == ["/home/me/hwtop-1.png"]
    (shot,) = taken
    assert (shot.formats, shot.panel, shot.has_all_pages, shot.hidden) == (("png", "svg"), "", False, ())
    assert shots.name(shot.view).startswith("hwtop-20")


def test_format_pages_and_masks_can_be_chosen() -> None:
    taken: list[Shot] = []
    given = options([Path("/home/me/a-1.html"), Path("/home/me/a-2.html"), Path("/home/me/a-3.html")], taken)
    # the last format, the last area, host names and paths masked
    said, copied = footer_after(given, "S", "left", "down", "left", "down", "space", "down", "down", "right", "enter")
    (shot,) = taken
    assert (shot.formats, shot.has_all_pages, shot.hidden) == (("html",), True, ("hosts", "paths"))
    assert said.endswith("/home/me/a-1.html and 2 more files")
    assert copied == ["/home/me/a-1.html"]


def test_the_panel_in_focus_can_be_chosen() -> None:
    taken: list[Shot] = []
    footer_after(options([Path("/home/me/a.png")], taken), "S", "down", "right", "enter")
    (shot,) = taken
    assert shot.panel
    assert shot.view.frame.verdict.text.split()[0] in texts(replace(shot, formats=("txt",)))[".txt"]


def test_the_text_of_a_panel_does_not_end_where_the_screen_does() -> None:
    view = View(frame=frames.healthy(), page="logs")
    lines = [each.text for each in log_view.lines(view)]
    small = replace(shot_of(view, panel="logs", formats=("txt", "svg")), size=(120, 20))
    assert len(lines) > 20
    found = texts(small)
    assert all(line[:60] in found[".txt"] for line in lines)
    assert not all(line[:20] in words_of(found[".svg"]) for line in lines), "a picture is what is on the screen"


def test_leaving_saves_nothing() -> None:
    taken: list[Shot] = []
    footer_after(options([], taken), "S", "escape")
    assert taken == []


def test_a_picture_that_cannot_be_written_says_why() -> None:
    said, copied = footer_after(options(CannotError("cannot write ~/hwtop-1.png: No space left on device"), []), "s")
    assert said.endswith("cannot write ~/hwtop-1.png: No space left on device")
    assert copied == []


def test_without_a_place_to_save_to_the_command_is_told() -> None:
    said, _ = footer_after(None, "S")
    assert "hwtop screenshot" in said


def test_a_picture_shows_the_cells_of_the_screen_and_what_it_is_of() -> None:
    """Every letter of the screen but the keys stands in the text, in the SVG and in the HTML, above the whole verdict, version, host and time."""
    view = turned(View(frame=frames.hang()), "ranks")
    screen = [line.text.rstrip() for line in picture(view, 120, 40)]
    found = texts(shot_of(view, formats=("txt", "svg", "html")))
    text = found[".txt"].splitlines()
    assert text[: len(screen) - 1] == screen[:-1]
    assert view.frame.verdict.text in " ".join(line.strip() for line in text[len(screen) - 1 : -1]), (
        "nothing of it is cut"
    )
    assert f"· {view.frame.derived.host} · " in text[-1]
    drawn = words_of(found[".svg"])
    assert {word for line in text for word in line.split() if word.isalnum()} <= set(drawn.split())

    class Cells(HTMLParser):
        shown = ""

        def handle_data(self, data: str) -> None:
            self.shown += data

    page = Cells()
    page.feed(found[".html"])
    shown = [line.rstrip() for line in page.shown.splitlines()]
    assert shown[shown.index(text[0]) :][: len(text)] == text


def test_all_pages_are_a_file_each() -> None:
    found = texts(shot_of(View(frame=frames.hang()), formats=("txt",), has_all_pages=True))
    assert list(found) == [f"-{page}.txt" for page in NAMES]
    assert len(set(found.values())) == len(NAMES)


def test_a_panel_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no panel 'nothing' on this page: it has .*ranks"):
        texts(shot_of(View(frame=frames.hang()), panel="nothing"))


def test_no_secret_is_in_any_picture_or_on_the_clipboard() -> None:
    """Sixty kinds, in log lines of errors that become findings, and in names of files."""
    from hwtop.feed.feed import frames as made
    from hwtop.report.frame.markdown import folded
    from hwtop.symptoms.summary import few_lines, one_line
    from hwtop.ui.pages.registry import current

    session = [at(snapshot, second) for second, snapshot in enumerate(hang()[:20])]
    for number, secret in enumerate(KINDS.values(), len(session)):
        lines = (f"ERROR login with {secret}", f'  File "/a/{secret}.py", line 3', f"loss nan {secret}")
        session.append(flooded(at(hang()[number % 20], number), lines))
    seen: set[str] = set()
    for frame in list(made(session))[20::6]:
        view = View(frame=frame)
        for page in NAMES:
            there = turned(view, page)
            seen.add(current(there).copied(there))
            shot = pictures.masked(shot_of(there, size=(200, 60), formats=("txt",)))
            seen.update(texts(shot).values())
        seen.update((one_line(frame), few_lines(frame), folded(frame)))
    everything = "\n".join(seen)
    assert "login with ****" in everything
    assert [kind for kind, secret in KINDS.items() if secret[4:16] in everything or secret[-10:] in everything] == []


def test_hosts_are_masked_in_the_picture_and_in_its_name() -> None:
    shot = pictures.masked(shot_of(View(frame=frames.hang()), formats=("txt",), hidden=("hosts", "users", "paths")))
    host = frames.hang().derived.host
    assert host not in texts(shot)[".txt"]
    assert host not in shots.name(shot.view)


def saved_by(monkeypatch: pytest.MonkeyPatch, home: Path) -> Result:
    monkeypatch.setenv("HOME", str(home))
    results: queue.Queue[Result] = queue.Queue()
    pictures.save(shot_of(View(frame=frames.hang())), results.put)
    return results.get(timeout=60)


def test_both_files_are_written_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = saved_by(monkeypatch, tmp_path)
    assert not isinstance(files, HwtopError)
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert [each.stat().st_mode & 0o777 for each in tmp_path.iterdir()] == [0o600, 0o600]


def test_a_home_that_is_no_folder_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    result = saved_by(monkeypatch, tmp_path / "file")
    assert isinstance(result, CannotError)
    assert str(result).startswith("cannot write ")
    assert "\n" not in str(result)
