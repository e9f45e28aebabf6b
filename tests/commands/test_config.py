"""`hwtop config`, and --config of the commands that judge."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.errors import HwtopError, UsageError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False, standalone_mode=False)
    return result.stdout


def test_a_file_to_begin_with_is_written_once(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "config.toml"
    assert run("config", "init", "--config", str(place)) == f"{place}\n"
    assert run("config", "check", "--config", str(place)) == f"{place}: understood\n"

    with pytest.raises(UsageError, match="is there already"):
        run("config", "init", "--config", str(place))
    assert run("config", "init", "--config", str(place), "--force") == f"{place}\n"


def test_what_holds_is_shown_with_what_the_file_sets(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text('[symptoms]\nquiet = ["loss-plateau"]\n')
    told = run("config", "show", "--config", str(place))

    assert 'quiet = ["loss-plateau"]  # set' in told
    assert 'theme = "auto"\n' in told


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
    assert "throughput-drop = { slower_share = 0.15, raise_s = 2, clear_s = 15 }" in shown.splitlines()
    assert "/dev/shm over 80 %" in run("symptoms", "--config", str(place))
    assert "/dev/shm over 80 %" in run("explain", "shm-nearly-full", "--config", str(place))

    place.write_text("[symptoms.thresholds]\nshm-nearly-full.used = 80\n")
    with pytest.raises(UsageError, match="has no threshold 'used': did you mean 'used_pct'"):
        run("config", "check", "--config", str(place))
