"""The key that saves a picture of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from textual.pilot import Pilot

from hwtop.commands.screen import save_picture
from hwtop.errors import CannotError, HwtopError
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import PictureSaved, ScreenOptions
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text

SVG = "{http://www.w3.org/2000/svg}"


def options(result: Path | HwtopError, taken: list[tuple[str, str]]) -> ScreenOptions:
    def save(name: str, svg: str, saved: PictureSaved) -> None:
        taken.append((name, svg))
        saved(result)

    return ScreenOptions(save_picture=save)


def footer_after(given: ScreenOptions | None) -> tuple[str, list[str]]:
    """What the last row says after the key, and what went to the clipboard."""
    said: list[Any] = []
    copied: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.copy_to_clipboard = copied.append  # type: ignore[assignment, method-assign]
        await pilot.press("s")
        await pilot.pause()
        said.append(" ".join(screen_text(app)[-1].split()))

    drive(act, frames.hang(), options=given)
    return said[0], copied


def test_the_screen_is_saved_with_one_key_and_its_path_copied() -> None:
    taken: list[tuple[str, str]] = []
    said, copied = footer_after(options(Path("/home/me/hwtop-1.png"), taken))
    assert said.endswith("saved, and its path sent to the clipboard: /home/me/hwtop-1.png and .svg")
    assert copied == ["/home/me/hwtop-1.png"]
    ((name, svg),) = taken
    assert name.startswith("hwtop-20")
    words = [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert "CRITICAL" in " ".join(words)
    assert "Ranks" in " ".join(words)
    assert any("hwtop" in word for word in words[-12:]), "version, host and time stand below"


def test_a_picture_that_cannot_be_written_says_why() -> None:
    said, copied = footer_after(options(CannotError("cannot write ~/hwtop-1.png: No space left on device"), []))
    assert said.endswith("cannot write ~/hwtop-1.png: No space left on device")
    assert copied == []


def test_without_a_place_to_save_to_the_command_is_told() -> None:
    said, _ = footer_after(None)
    assert "hwtop screenshot" in said


def saved_by(name: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path | HwtopError:
    import queue

    monkeypatch.setenv("HOME", str(home))
    results: queue.Queue[Path | HwtopError] = queue.Queue()
    save_picture(name, '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>', results.put)
    return results.get(timeout=60)


def test_both_files_are_written_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved_by("hwtop-1", monkeypatch, tmp_path)
    assert file == tmp_path / "hwtop-1.png"
    assert file.read_bytes().startswith(b"\x89PNG")
    assert {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {
        "hwtop-1.png": 0o600,
        "hwtop-1.svg": 0o600,
    }


def test_a_home_that_is_no_folder_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    result = saved_by("hwtop-1", monkeypatch, tmp_path / "file")
    assert isinstance(result, CannotError)
    assert str(result).startswith("cannot write ~/hwtop-1.png: ")
    assert "\n" not in str(result)
