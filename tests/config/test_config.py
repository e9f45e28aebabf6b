"""The settings file: what it may say, and what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.config import Config, default_path, load, parse
from hwtop.config.settings import template
from hwtop.errors import UsageError
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.rule import Observation, Rule
from tests.symptoms.derived_states import constant, job, rank


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(environ={"XDG_CONFIG_HOME": str(tmp_path)}) == Config()


def test_the_template_says_the_defaults(tmp_path: Path) -> None:
    text = template()
    given = "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.splitlines()[2:])

    assert parse(text.encode(), "template") == Config()
    assert parse(given.encode(), "template") == Config()  # also without the remark signs


def test_a_file_is_found_where_the_specification_says(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    default_path(environ).parent.mkdir()
    default_path(environ).write_text('[symptoms]\noff = ["loss-plateau"]\n')

    assert load(environ=environ).symptoms.off == ("loss-plateau",)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("[screen\n", "invalid TOML"),
        ("[screen]\ntheem = 'x'\n", "no setting 'theem': did you mean 'theme'"),
        ("[screen]\nmouse = 3\n", "screen.mouse: expected true or false, not a number"),
        ("[alerts]\nseverity = 'loud'\n", "alerts.severity: Invalid enum value 'loud'"),
        ("[wrong]\n", "no setting 'wrong'"),
        ("[alerts]\nwebhook = 'file:///etc/passwd'\n", "alerts.webhook: 'file:///etc/passwd' is not a URL"),
        ("[screen]\ninterval = 'often'\n", "screen.interval: 'often' is not a valid time"),
        ("[screen]\ninterval = '1ms'\n", "out of range: use 0.2 to 60 seconds"),
        ("x = " + "[" * 10_000, "invalid TOML"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_mistake_is_named(text: str | bytes, reported: str) -> None:
    with pytest.raises(UsageError, match=reported):
        parse(text.encode() if isinstance(text, str) else text, "config.toml")


def test_a_file_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file: `hwtop config init --config"):
        load(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="Is a directory"):
        load(str(tmp_path))


def test_a_quiet_symptom_is_a_note() -> None:
    seen = Observation(severity="critical", confidence=0.9, title="t", evidence=("e",), next_steps=("n",))
    rule = Rule(symptom="hang", category="stability", threshold="-", raise_s=0.0, clear_s=0.0, check=lambda _: seen)

    assert [each.severity for each in Judge([rule], quiet=["hang"]).advance(constant(job(rank())), 1.0)] == ["info"]
