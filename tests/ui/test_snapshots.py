"""Every page at three sizes, and one in every theme, is as it was when somebody last looked at it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

import pytest

from tests import pictures, screens


@pytest.fixture(autouse=True, scope="module")
def _utc() -> Iterator[None]:
    with screens.in_utc():
        yield


@pytest.mark.parametrize("name", screens.SCREENS)
def test_the_screen_is_the_one_that_was_looked_at(name: str) -> None:
    file = screens.file_of(name)
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    drawn = screens.SCREENS[name]()
    if drawn != kept:
        lines = unified_diff(
            kept.splitlines(), drawn.splitlines(), f"{name}, as kept", f"{name}, as drawn", n=1, lineterm=""
        )
        reported = "\n".join(lines)
        pytest.fail(f"{reported}\n\nIs it meant to look like this? `{screens.ANEW}` keeps it.", pytrace=False)


def test_no_screen_is_kept_that_is_not_drawn() -> None:
    assert {file.stem for file in screens.FOLDER.iterdir()} == set(screens.SCREENS)


def test_the_gallery_has_each_picture_and_no_other() -> None:
    drawn = {f"{name}{suffix}" for name in pictures.PICTURES for suffix in (".svg", ".png")}
    assert {file.name for file in pictures.GALLERY.iterdir()} == {*drawn, f"{pictures.WEB}.png"}
