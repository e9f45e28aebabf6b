from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.terminal_theme import TerminalTheme
from textual.pilot import Pilot

from hwtop.errors import UsageError
from hwtop.ui import themes
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pictures.painted import paints
from hwtop.ui.pictures.svg import Paint
from hwtop.ui.themes import borrowed
from hwtop.ui.themes.contrast import MARK, TEXT, blend, contrast, legible, luminance
from hwtop.ui.themes.sixteen_colours import VGA
from hwtop.ui.widgets.panel import ROLES, Panel
from hwtop.ui.widgets.text import to_ascii
from tests import frames
from tests.ui.colour_vision import KINDS, distance, seen
from tests.ui.test_app import FakeFeed, drive

UI = Path(themes.__file__).parents[1]
Looks = dict[str, dict[str, Paint]]
SIXTEEN, BARE = "16-colours", "no-colour"
COLOURED = [name for name in themes.OWN if name not in (SIXTEEN, BARE)]

MARKS = {"track", "faint-good"}
"""Drawn, never written."""
FRAMES = {"border"}
"""Only group what stands in them, which WCAG asks no contrast of; they must be seen all the same."""

_XTERM_DARK = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229,) * 3,
]
_XTERM_BRIGHT = [
    (127,) * 3,
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255,) * 3,
]
_PUTTY_DARK = [
    (0, 0, 0),
    (187, 0, 0),
    (0, 187, 0),
    (187, 187, 0),
    (0, 0, 187),
    (187, 0, 187),
    (0, 187, 187),
    (187,) * 3,
]
_PUTTY_BRIGHT = [
    (85,) * 3,
    (255, 85, 85),
    (85, 255, 85),
    (255, 255, 85),
    (85, 85, 255),
    (255, 85, 255),
    (85, 255, 255),
    (255,) * 3,
]
PALETTES = {
    "Linux console": VGA,
    "xterm": TerminalTheme((0, 0, 0), (229, 229, 229), _XTERM_DARK, _XTERM_BRIGHT),
    "PuTTY": TerminalTheme((0, 0, 0), (187, 187, 187), _PUTTY_DARK, _PUTTY_BRIGHT),
}
"""The sixteen colours as those draw them whose TERM tells of no more: drivers/tty/vt/vt.c, XTerm-col.ad, PuTTY's defaults."""


@pytest.fixture(scope="module")
def looks() -> Looks:
    """Each own theme as the style sheet shows it, the sixteen colours in each palette."""
    found: Looks = {}

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        panel = app.screen.query_one("#verdict", Panel)
        for name in themes.OWN:
            app.apply_theme(name)
            await pilot.pause()
            found[name] = paints(panel)
        app.apply_theme(SIXTEEN)
        await pilot.pause()
        found.update({palette: paints(panel, colours) for palette, colours in PALETTES.items()})

    drive(act)
    return found


def too_faint(found: dict[str, Paint], text: float = TEXT, mark: float = MARK, frame: float = 2.0) -> Iterator[str]:
    for role, paint in found.items():
        least = frame if role in FRAMES else mark if role in MARKS else text
        ratio = contrast(paint.color, paint.background)
        if ratio < least:
            yield f"{role}: {paint.color} on {paint.background} is {ratio:.1f}:1, needs {least}"


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the known greys around 4.5:1 on white
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert luminance("#ff0000") == pytest.approx(0.2126)


def test_a_tone_is_moved_no_further_than_needed() -> None:
    assert blend("#ffffff", "#000000", 0.5) == "#808080"
    assert legible("#ffffff", "#000000", TEXT) == "#ffffff"
    moved = legible("#203040", "#000000", TEXT)
    assert TEXT <= contrast(moved, "#000000") < TEXT + 1
    assert contrast(legible("#ffff00", "#ffffff", TEXT), "#ffffff") >= TEXT
    assert legible("#808080", "#808080", 21) == "#000000"  # as far as it goes


@pytest.mark.parametrize("name", COLOURED)
def test_text_and_marks_can_be_read(looks: Looks, name: str) -> None:
    assert not list(too_faint(looks[name]))


@pytest.mark.parametrize("name", borrowed.NAMES)
def test_borrowed_themes_can_be_read(name: str) -> None:
    tones = themes.tones(name)
    for tone in (
        tones.label,
        tones.dim,
        tones.title,
        tones.accent,
        tones.wait,
        tones.good,
        tones.warn,
        tones.bad,
        *tones.ranks,
    ):
        assert contrast(tone, tones.background) > TEXT, tone
    for tone, ground in ((tones.text, tones.library), (tones.text, tones.panel), (tones.label, tones.panel)):
        assert contrast(tone, ground) > TEXT, (tone, ground)
    for ground in (tones.title, tones.accent, tones.good, tones.warn, tones.user):
        assert contrast(tones.on, ground) > TEXT, ground
    assert contrast(tones.on_bad, tones.bad_ground) > TEXT
    assert min(contrast(tone, tones.background) for tone in (tones.track, tones.faint_good)) > MARK


@pytest.mark.parametrize("name", COLOURED)
def test_own_themes_can_be_read_in_256_colours(name: str, looks: Looks) -> None:
    def nearest(tone: str) -> str:
        return Color.parse(tone).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex

    rounded = {role: Paint(nearest(paint.color), nearest(paint.background)) for role, paint in looks[name].items()}
    assert not list(too_faint(rounded))


def test_high_contrast_is_twice_as_strict(looks: Looks) -> None:
    assert not list(too_faint(looks["high-contrast"], text=7.0, mark=TEXT, frame=TEXT))


@pytest.mark.parametrize("palette", PALETTES)
def test_sixteen_colours_can_be_read_where_there_are_no_more(looks: Looks, palette: str) -> None:
    assert not list(too_faint(looks[palette]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "least"), [("hwtop", 20), ("light", 20), ("high-contrast", 20), ("colour-blind", 35)])
def test_good_warn_and_bad_stay_apart_for_all_eyes(looks: Looks, name: str, least: float, kind: str) -> None:
    """Ten times what is just noticeable (2.3), and far more where it is what the theme is for: engineering defaults."""
    found = looks[name]
    for one, two in itertools.combinations(("good", "warn", "bad"), 2):
        assert distance(found[one].color, found[two].color, kind) >= least, (one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_colour_blind_keeps_the_parts_of_a_bar_apart(looks: Looks, kind: str) -> None:
    found = looks["colour-blind"]
    for one, two in itertools.combinations(("mix-1", "mix-2", "mix-3", "mix-4"), 2):
        assert distance(found[one].color, found[two].color, kind) >= 15, (one, two)


def test_simulation_keeps_greys_and_takes_red_from_protanopes() -> None:
    for kind in KINDS:
        assert seen("#808080", kind) == "#808080"
    assert luminance(seen("#ff0000", "protanopia")) < 0.6 * luminance("#ff0000")
    assert distance("#ff0000", "#00a000", "deuteranopia") < 0.5 * distance("#ff0000", "#00a000", "none")


def test_numbers_of_neighbouring_ranks_differ_and_mean_no_trouble(looks: Looks) -> None:
    for name in ("hwtop", "light", "high-contrast", "colour-blind"):
        found = looks[name]
        tones = [found[f"rank-{number}"].color for number in range(8)]
        for one, two in zip(tones, [*tones[1:], tones[0]], strict=True):
            assert distance(one, two, "none") >= 15, (name, one, two)
        for tone in tones:
            assert min(distance(tone, found[role].color, "none") for role in ("warn", "bad")) >= 20, (name, tone)


def test_without_colours_what_has_a_ground_is_reversed(looks: Looks) -> None:
    found = looks[BARE]
    plain = found["text"]
    assert {paint.color for role, paint in found.items() if role.startswith("band")} == {plain.background}
    assert found["cursor"].background == plain.color
    assert found["flame-user"].background == plain.background  # underlined, so that the chosen box stands out
    assert found["track"].color != plain.color  # a bar is told from its track
    assert found["bad"].is_bold and not found["good"].is_bold


def test_no_colour_stands_outside_the_themes() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(|[\"']ansi_|Color\.(?:parse|from_)|\bstyle=\"")
    for file in UI.rglob("*.py"):
        if UI / "themes" not in file.parents:
            assert not literal.findall(file.read_text()), file
    sheets = list(UI.rglob("*.tcss"))
    assert sheets
    for sheet in sheets:
        for name, value in re.findall(r"(color|background|border[a-z-]*):\s*([^;]+);", sheet.read_text()):
            assert re.fullmatch(r"\$[a-z0-9-]+", value), f"{sheet.name}: {name}: {value}"


def test_every_glyph_has_a_stand_in_of_plain_ascii() -> None:
    others = ("text.py", "terminal.py")  # the stand-ins themselves, and what a terminal is asked with
    for file in (*UI.glob("*.py"), *UI.glob("panels/*.py"), *UI.glob("screens/*.py"), *UI.glob("widgets/*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and file.name not in others:
                assert "?" not in to_ascii(node.value.replace("?", "")), (file.name, node.value)


def test_every_role_has_a_rule_of_its_own() -> None:
    rules = set(re.findall(r"\.panel--([a-z0-9-]+) \{", (UI / "app.tcss").read_text()))
    assert rules == set(ROLES)


def test_a_wrong_name_lists_the_right_ones() -> None:
    with pytest.raises(UsageError, match=r"hwtop, light, high-contrast, colour-blind, 16-colours, no-colour, .*nord"):
        themes.check("pink")
    for name in (themes.AUTO, *themes.NAMES):
        themes.check(name)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "linux"}, SIXTEEN),
        ({"TERM": "xterm"}, SIXTEEN),
        ({"TERM": "screen"}, SIXTEEN),
        ({"TERM": "dumb"}, SIXTEEN),
        ({}, SIXTEEN),
        ({"TERM": "xterm-256color"}, "hwtop"),
        ({"TERM": "screen-256color"}, "hwtop"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "hwtop"),
    ],
)
def test_the_terminal_chooses_where_nobody_does(
    environ: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    assert HwtopApp(FakeFeed().start, options=ScreenOptions(theme=themes.AUTO)).theme == expected


def test_a_theme_is_changed_while_it_runs() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        panel = app.screen.query_one("#verdict", Panel)

        grounds: list[Color | None] = []
        for name in ("hwtop", "light", SIXTEEN):
            app.apply_theme(name)
            await pilot.pause()
            style = next(iter(panel.render_line(0))).style
            assert style is not None
            grounds.append(style.bgcolor)
        assert len(set(grounds)) == 3
        assert grounds[2] is not None and grounds[2].is_system_defined

    drive(act, frames.hang())


def test_no_color_goes_before_any_theme() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for panel in app.screen.query(Panel):
            for y in range(panel.size.height if panel.display else 0):
                for segment in panel.render_line(y):
                    assert segment.style is not None
                    for color in (segment.style.color, segment.style.bgcolor):
                        assert color is None or color.is_default, segment

    drive(act, frames.hang(), options=ScreenOptions(theme="light", no_color=True))
