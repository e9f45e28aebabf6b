"""The settings file as it is changed: what a person wrote stays, and nothing is ever lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hwtop.config import Config, load, parse
from hwtop.config.file import Changes, save, with_changes
from hwtop.config.settings import all_settings, described, template
from hwtop.errors import CannotError, UsageError

MANY: Changes = {
    ("screen", "theme"): "nord",
    ("screen", "ascii"): True,
    ("symptoms", "off"): ("loss-plateau",),
    ("symptoms", "thresholds", "shm-nearly-full", "used_pct"): 70.0,
    ("alerts", "bell"): True,
    ("keys", "pause"): ("Z", "F7"),
}
WAYS = {
    "empty": "",
    "template": template(),
    "dotted": 'screen.theme = "light"  # mine\n',
    "inline": 'screen = { theme = "light" }  # mine\n',
    "out of order": "[symptoms.thresholds]\nshm-nearly-full.used_pct = 80\n[symptoms]\nquiet = []\n",
    "no end of line": '[keys]\nhelp = "F6"  # mine',
    "windows": "\ufeff# mine\r\n\r\n[screen]\r\ntheme = 'light'  # mine\r\n",
    "table of its own": "[symptoms.thresholds.shm-nearly-full]\nused_pct = 80  # mine\n",
    "strange spaces": "\n\n  [ screen ]\n\ttheme='light'#mine\n\n\n",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_only_what_is_changed_changes(text: str) -> None:
    changed = with_changes(text, MANY, "config.toml")
    said = parse(changed.encode(), "config.toml")

    assert (said.screen.theme, said.screen.ascii, said.alerts.bell) == ("nord", True, True)
    assert said.symptoms.off == ("loss-plateau",)
    assert said.symptoms.thresholds == {"shm-nearly-full": {"used_pct": 70}}
    assert said.keys["pause"] == ("Z", "F7")
    assert changed.count("mine") == text.count("mine"), "remarks stay"
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")
    assert "\n" not in changed.replace("\r\n", "") or "\r" not in changed, "one kind of line ends"
    assert with_changes(changed, MANY, "config.toml") == changed

    back = with_changes(changed, {path: None for path in MANY if path[0] == "keys" or len(path) == 4}, "c")
    assert not parse(back.encode(), "c").symptoms.thresholds.get("shm-nearly-full")


def test_the_template_wakes_up_line_by_line() -> None:
    changed = with_changes(template(), MANY, "config.toml").splitlines()
    theme = next(number for number, line in enumerate(changed) if line.startswith('theme = "nord"'))

    assert changed[theme].index(" # ") == changed[theme - 1].index(" # ", 2), "remarks keep their column"
    assert len(changed) == len(template().splitlines()) + 2, "a line for the key, one for the threshold"


def test_lines_of_a_list_stay_with_their_remarks() -> None:
    text = "[symptoms]\noff = [\n  'hang',  # because\n  'loss-nan',  # too\n]\n"
    changed = with_changes(text, {("symptoms", "off"): ("loss-nan", "loss-plateau")}, "config.toml")

    assert "'loss-nan',  # too" in changed
    assert parse(changed.encode(), "c").symptoms.off == ("loss-nan", "loss-plateau")


@pytest.mark.parametrize(
    "raw", [b"[screen\n", b"[screen]\ntheem = 1\n", b"[wrong]\n", b"\xff\xfe[", b"x" * (1 << 20) + b"xx"], ids=len
)
def test_what_is_not_understood_is_not_touched(tmp_path: Path, raw: bytes) -> None:
    place = tmp_path / "config.toml"
    place.write_bytes(raw)

    with pytest.raises(UsageError, match=r"config\.toml: ") as error:
        save(place, MANY)
    assert "\n" not in str(error.value)
    assert place.read_bytes() == raw
    assert os.listdir(tmp_path) == ["config.toml"]


def test_what_cannot_be_changed_safely_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text("[symptoms]\nthresholds = { hang = { quiet_s = 5 } }\n")
    before = place.read_bytes()

    with pytest.raises(UsageError, match="cannot change this file safely: nothing was saved; edit it by hand"):
        save(place, {("symptoms", "thresholds", "shm-nearly-full", "used_pct"): 70.0})
    assert place.read_bytes() == before


def test_a_value_that_cannot_be_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="interval"):
        save(tmp_path / "config.toml", {("screen", "interval"): "often"})
    assert os.listdir(tmp_path) == []


def test_rights_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    real.write_text("[screen]\nascii = false\n")
    real.chmod(0o640)
    link.symlink_to(real)

    assert save(link, MANY) == load(str(real))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["config.toml", "dotfiles.toml"]


def test_a_new_file_begins_as_the_template(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "down" / "config.toml"
    save(place, {("alerts", "bell"): True})

    assert place.read_text().startswith("# Settings of hwtop.")
    assert load(str(place)).alerts.bell
    assert place.stat().st_mode & 0o777 == 0o600, "a webhook is a secret"


@pytest.mark.parametrize("folder", ["file/hwtop", "/proc/nobody", "/dev/null"])
def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((CannotError, UsageError)) as error:
        save(tmp_path / folder / "config.toml", MANY)
    assert "\n" not in str(error.value)


def test_every_setting_is_told_what_it_is_for() -> None:
    assert [path for path, about, _ in described() if not about] == []
    for setting in all_settings():
        assert setting.path[0] in Config.__struct_fields__
