"""The Tab key in a real bash, and what other shells are told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training import start_python

pytestmark = pytest.mark.real

RANK = "import time\nprint('step 1', flush=True)\ntime.sleep(600)\n"
PRESS_TAB = """
source <(hwtop completion bash) || exit 1
complete -p hwtop >&2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_hwtop_completion hwtop
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """With this checkout's hwtop as the one that a shell finds."""
    program = tmp_path / "bin" / "hwtop"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hwtop "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


def offered(env: dict[str, str], *words: str) -> list[str]:
    """What bash offers when Tab is pressed at the end of the line."""
    command = ["bash", "--norc", "-c", PRESS_TAB, "bash", "hwtop", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert "_hwtop_completion" in done.stderr  # what bash will call by itself
    return done.stdout.split()


def test_bash_completes_commands_flags_and_values(env: dict[str, str]) -> None:
    assert offered(env, "d") == ["demo", "diagnose", "doctor"]
    assert {"--theme", "--readonly", "--interval"} <= set(offered(env, "--"))
    assert offered(env, "--theme", "col") == ["colour-blind"]
    assert offered(env, "config", "") == ["check", "init", "show"]
    assert "hang" in offered(env, "explain", "h")
    assert {"straggler", "segfault"} <= set(offered(env, "demo", "s"))
    assert "flame" in offered(env, "screenshot", "--page", "f")


def test_bash_completes_the_pid_of_a_training_job(env: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(RANK)
    with start_python(script, tmp_path, logs="launcher.log", env={"RANK": "0", "WORLD_SIZE": "1"}) as job:
        job.wait_for_line("step 1")
        pid = str(job.launcher_pid)
        assert pid in offered(env, pid[:-1])
        everything = offered(env, "diagnose", "")
        assert pid in everything
        assert "demo" not in everything  # commands stand first on the line only


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_shell_is_told_to_ask_hwtop(shell: str, env: dict[str, str]) -> None:
    script = subprocess.run(["hwtop", "completion", shell], env=env, capture_output=True, text=True, check=True).stdout
    assert f"_HWTOP_COMPLETE={shell}_complete" in script
    asked = {"_HWTOP_COMPLETE": f"{shell}_complete", "COMP_WORDS": "hwtop expl", "COMP_CWORD": "1"}
    if shell == "fish":
        asked["COMP_CWORD"] = "expl"  # fish names the word itself
    reported = subprocess.run(["hwtop"], env=env | asked, capture_output=True, text=True, timeout=60).stdout
    assert "explain" in reported


def test_a_shell_that_it_does_not_know(env: dict[str, str]) -> None:
    done = subprocess.run(["hwtop", "completion", "ksh"], env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "'bash', 'fish', 'zsh'" in done.stderr
    assert done.stderr.count("\n") == 1
