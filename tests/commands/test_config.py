"""`hwtop config`, and --config of the commands that judge."""

from __future__ import annotations

import queue
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.collectors.ras import policy
from hwtop.commands.job import live
from hwtop.commands.setup import demo
from hwtop.commands.shared import screen
from hwtop.config import Config, load, parse
from hwtop.errors import HwtopError, UsageError
from hwtop.ui.keys.keymap import keymap


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False, standalone_mode=False)
    return result.stdout


def test_a_file_to_begin_with_is_written_once(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "config.toml"
    assert run("config", "init", "--config", str(place)) == f"{place}\n"
    assert run("config", "check", "--config", str(place)) == f"{place}: valid\n"

    with pytest.raises(UsageError, match="already exists"):
        run("config", "init", "--config", str(place))
    assert run("config", "init", "--config", str(place), "--force") == f"{place}\n"


def test_what_holds_is_shown_with_what_the_file_sets(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text('[symptoms]\nquiet = ["loss-plateau"]\n')
    reported = run("config", "show", "--config", str(place))

    assert 'quiet = ["loss-plateau"]  # set' in reported
    assert 'theme = "auto"\n' in reported


@pytest.mark.parametrize("arguments", [("config", "check"), ("config", "show"), ("diagnose", "1"), ("live", "--once")])
def test_a_symptom_that_does_not_exist_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    place = tmp_path / "config.toml"
    place.write_text('[symptoms]\noff = ["los-plateau"]\n')

    with pytest.raises(HwtopError, match="no symptom 'los-plateau': did you mean 'loss-plateau'"):
        run(*arguments, "--config", str(place))


def test_a_threshold_holds_wherever_it_is_told(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text("[symptoms.thresholds]\nshm-nearly-full.used_pct = 80\n")

    shown = run("config", "show", "--config", str(place))
    assert "shm-nearly-full = { used_pct = 80, raise_s = 1, clear_s = 10 }  # set: used_pct" in shown.splitlines()
    assert "throughput-drop = { slower_share = 0.15, raise_s = 0, clear_s = 15 }" in shown.splitlines()
    assert "/dev/shm over 80 %" in run("symptoms", "--config", str(place))
    assert "/dev/shm over 80 %" in run("explain", "shm-nearly-full", "--config", str(place))

    place.write_text("[symptoms.thresholds]\nshm-nearly-full.used = 80\n")
    with pytest.raises(UsageError, match="has no threshold 'used': did you mean 'used_pct'"):
        run("config", "check", "--config", str(place))


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ('[keys]\npauze = "Z"\n', "no action 'pauze': did you mean 'pause'"),
        ('[keys]\npause = "q"\n', "keys.pause: q is a key of 'quit' already"),
        ('[screen]\ntheme = "nordd"\n', "screen.theme: no theme 'nordd': did you mean 'nord'"),
    ],
)
def test_what_only_the_screen_knows_is_checked_too(tmp_path: Path, text: str, reported: str) -> None:
    place = tmp_path / "config.toml"
    place.write_text(text)

    for arguments in (("config", "check"), (), ("demo",)):
        with pytest.raises(UsageError, match=reported):
            run(*arguments, "--config", str(place))


def test_all_keys_that_hold_are_shown_as_the_file_would_have_them(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text('[keys]\npause = "F7 Z"\n')
    reported = run("config", "show", "--config", str(place))

    assert 'pause = ["F7","Z"]  # set\n' in reported
    assert 'quit = ["q","F10"]\n' in reported
    section = reported[reported.index("[keys]") :]
    assert keymap(parse(section.encode(), "shown").keys)["pause"] == "f7,Z"


@pytest.mark.parametrize("command", [live.command, demo.command], ids=["live", "demo"])
def test_flags_go_before_the_file_and_the_file_before_the_defaults(tmp_path: Path, command: click.Command) -> None:
    place = tmp_path / "config.toml"
    place.write_text('[screen]\ntheme = "light"\ninterval = "2s"\nmouse = false\n')
    context = command.make_context(command.name, ["--config", str(place), "--theme", "nord", "--readonly"])
    opening = screen.opening(context)

    assert (opening.options.theme, opening.interval_s, opening.has_mouse) == ("nord", 2.0, False)
    assert opening.options.is_readonly and not opening.options.is_ascii
    assert opening.options.settings is not None
    assert opening.options.settings.place == str(place)
    assert opening.options.settings.flags == {
        ("screen", "theme"): ("--theme", "nord"),
        ("screen", "readonly"): ("--readonly", True),
    }


def test_the_screen_writes_the_file_that_it_was_given_without_waiting(tmp_path: Path) -> None:
    place = tmp_path / "mine.toml"
    place.write_text('# mine\n[screen]\ntheme = "light"\n')
    context = live.command.make_context("live", ["--config", str(place)])
    file = screen.opening(context).options.settings
    answers: queue.Queue[Config | HwtopError] = queue.Queue()
    assert file is not None
    file.save({("alerts", "bell"): True}, answers.put)

    assert answers.get(timeout=60) == load(str(place))
    assert load(str(place)).alerts.bell
    place.write_text("[screen\n")
    file.save({("alerts", "bell"): False}, answers.put)
    assert isinstance(answers.get(timeout=60), UsageError)


def test_a_command_that_reads_the_settings_adopts_who_may_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "_adopted", ["off"])
    settings = tmp_path / "config.toml"
    for said in ("any-version", "off"):
        settings.write_text(f'[nccl]\nras = "{said}"\n')
        run("explain", "hang", "--config", str(settings))
        assert policy.adopted() == said
