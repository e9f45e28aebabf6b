"""`hwtop patterns`, and `hwtop scan` with patterns of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = """
[[pattern]]
id = "quota-reached"
literals = ["quota of"]
regex = 'quota of project \\w+ reached|project \\w+ is full'
severity = "warning"
role = "root"
title = "Quota reached"
explanation = "The project's quota is used up."
playbook = ["quota -s"]
source = "cluster handbook"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    place = tmp_path / "hwtop" / "patterns.d"
    place.mkdir(parents=True)
    (place / "own.toml").write_text(OWN)
    return tmp_path


def hwtop(*args: str | Path, config: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_CONFIG_HOME": str(config or "/nowhere")}
    command = [sys.executable, "-m", "hwtop", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False, env=env)


@pytest.mark.slow
def test_list_and_show_tell_own_patterns_beside_those_of_hwtop(config: Path) -> None:
    rows = [json.loads(line) for line in hwtop("patterns", "list", "--json", config=config).stdout.splitlines()]
    assert rows[0]["id"] == "quota-reached"
    assert rows[0]["origin"].endswith("own.toml")
    assert {"cuda-oom", "nccl-timeout", "xid"} <= {row["id"] for row in rows}
    listed = hwtop("patterns", "list", config=config).stdout.splitlines()
    assert next(line for line in listed if line.startswith("quota-reached")).endswith("root, your own")
    shown = hwtop("patterns", "show", "quota-reached", config=config).stdout
    assert all(text in shown for text in ("Quota reached", "quota -s", "cluster handbook", "own.toml"))


def test_an_unknown_id_is_one_line_with_what_was_meant() -> None:
    done = hwtop("patterns", "show", "cuda-om")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cuda-oom" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_scan_uses_and_explains_them(config: Path) -> None:
    text = "step 1\nquota of project X reached\n"
    done = hwtop("scan", "--json", "-", config=config, stdin=text)
    (row,) = map(json.loads, done.stdout.splitlines())
    assert (row["pattern"], row["severity"], row["role"], row["line_no"]) == ("quota-reached", "warning", "root", 2)
    assert done.returncode == 1
    explained = hwtop("scan", "--explain", "-", config=config, stdin=text).stdout
    assert all(text in explained for text in ("quota-reached: Quota reached", "next    quota -s", "cluster handbook"))


def test_a_bad_file_ends_the_scan_with_one_line(config: Path) -> None:
    (config / "hwtop" / "patterns.d" / "bad.toml").write_text("[[pattern]]\nid = 'x'\nliterals = ['Upper']\n")
    done = hwtop("scan", "-", config=config, stdin="step 1\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "bad.toml" in done.stderr
    assert '"x"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_test_tells_what_a_file_would_find_and_miss(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace('["quota of"]', '["quota of", "st"]'))
    log = tmp_path / "train.log"
    log.write_text("step 1\n" * 500 + "quota of project X reached\nproject Y is full\n")
    done = hwtop("patterns", "test", own, log)
    assert done.returncode == 0
    assert f"{log}:501: warning: quota-reached (root)" in done.stdout
    assert 'literal "st" is short' in done.stdout
    assert 'literal "st" is in 100 % of the lines' in done.stdout
    assert "matches 1 lines that contain none of its literals" in done.stdout
    assert "line 502" in done.stdout


def test_test_finds_a_regex_that_would_hold_up_the_scan(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("quota of project \\w+ reached", "(a+)+ reached"))
    assert "its regex is slow on a line of" in hwtop("patterns", "test", own).stdout


def test_explain_is_for_persons_only() -> None:
    done = hwtop("scan", "--json", "--explain", "-")
    assert (done.returncode, done.stdout) == (2, "")
