"""The manual page: every command and flag in it, and roff that groff has no complaint about."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import click
import pytest

from hwtop.cli import COMMANDS, cli
from hwtop.commands.reference.man import page


@pytest.fixture(scope="module")
def shown() -> str:
    """The page as groff sets it, without marks."""
    roff = subprocess.run([sys.executable, "-m", "hwtop", "man"], capture_output=True, check=True).stdout
    env = {**os.environ, "GROFF_NO_SGR": "1"}
    done = subprocess.run(
        ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-rLL=200n"], input=roff, env=env, capture_output=True, check=True
    )
    assert done.stderr == b""
    return re.sub(".\b", "", done.stdout.decode()).replace("‐\n", "")


def test_every_command_and_flag_is_there(shown: str) -> None:
    root = click.Context(cli, info_name="hwtop")
    for name in ("live", *COMMANDS):
        found = cli.get_command(root, name)
        assert found is not None
        assert name == "live" or re.search(rf"^ +hwtop {name}\b", shown, re.MULTILINE), name
        for param in found.params:
            if isinstance(param, click.Option):
                assert all(flag in shown for flag in param.opts), (name, param.opts)


def test_the_sections_in_their_order(shown: str) -> None:
    titles = re.findall(r"^([A-Z][A-Z ]+)$", shown, re.MULTILINE)
    assert titles == [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "COMMANDS",
        "EXAMPLES",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
    ]
    assert "hwtop - why a training job is slow or stuck" in shown


def test_examples_keep_their_lines_and_signs(shown: str) -> None:
    assert re.search(r"^ +hwtop man > ~/\.local/share/man/man1/hwtop\.1 ", shown, re.MULTILINE)
    assert r"regex = 'quota of project (?P<project>\w+) reached'" in shown


def test_no_text_becomes_a_request() -> None:
    known = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".br", ".nf", ".fi"}
    for line in page(click.Context(cli, info_name="hwtop")):
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in known, line
