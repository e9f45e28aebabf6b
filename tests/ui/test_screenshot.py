from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hwtop.errors import UsageError
from hwtop.ui import themes
from hwtop.ui.pictures import painted, screenshot
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_is_well_formed_and_holds_the_words() -> None:
    root = ElementTree.fromstring(screenshot.svg(View(frame=frames.hang()), (120, 40)))
    words = " ".join(node.text or "" for node in root.iter(f"{SVG}text"))
    assert "Rank 5 never reached the all_reduce that the 7 other ranks wait in" in words
    assert "CRITICAL" in words
    assert root.find(f"{SVG}title") is not None


def test_svg_escapes_what_the_machine_says() -> None:
    frame = frames.healthy()
    nasty = replace(frame, verdict=replace(frame.verdict, text="<script>&\x1b\x00 ]]>"))
    root = ElementTree.fromstring(screenshot.svg(View(frame=nasty), (80, 24)))
    assert any("<script>&" in (node.text or "") for node in root.iter(f"{SVG}text"))


def test_frames_and_trends_are_shapes_so_no_font_is_needed_for_them() -> None:
    drawn = screenshot.svg(View(frame=frames.healthy()), (160, 50))
    assert not set("─│╭╮╰╯━⣿█") & set(drawn)


def test_png() -> None:
    data = painted.png(screenshot.svg(View(frame=frames.healthy()), (80, 24)))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) > 20_000  # an empty picture, as one without fonts, has a few kilobytes


def test_a_wrong_theme_lists_the_right_ones() -> None:
    with pytest.raises(UsageError, match="nord"):
        themes.check("pink")
