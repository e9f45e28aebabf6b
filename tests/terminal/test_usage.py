"""What a person types wrong costs one line that says what is wrong, and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.cli import COMMANDS
from tests.terminal.tmux import Tmux, hwtop

pytestmark = pytest.mark.real

OWN_PID = str(os.getpid())


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """hwtop without a terminal, `text` on its standard input."""
    command = [sys.executable, "-m", "hwtop", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def sleeper() -> Iterator[str]:
    """PID of a process that is no Python."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield str(process.pid)
    process.kill()
    process.wait()


WRONG = {
    "no such process": (["999999999"], "999999999"),
    "PID 0": (["0"], "'0' is neither a PID nor a command"),
    "negative PID": (["-5"], "-5"),
    "unknown command": (["foo"], "'foo' is neither a PID nor a command"),
    "unknown flag": (["--badflag"], "--badflag"),
    "unknown flag of a command": (["diagnose", OWN_PID, "--badflag"], "--badflag"),
    "two PIDs": (["1", "2"], "2"),
    "PID and --pid": (["diagnose", "1", "--pid", "2"], "give only one of"),
    "diagnose nothing": (["diagnose"], "no job given"),
    "a time that is none": (["diagnose", OWN_PID, "--for", "abc"], "'abc' is not a valid time"),
    "no time": (["diagnose", OWN_PID, "--for", "0"], "out of range"),
    "an interval of 0": ([OWN_PID, "-i", "0"], "out of range"),
    "GPUs that are no numbers": (["snapshot", "--gpus", "a,b"], "'a,b' is not a list of numbers"),
    "--name that matches nothing": (["diagnose", "--name", "no-such-trainer-anywhere"], "no-such-trainer-anywhere"),
    "screen without a terminal": ([OWN_PID], "needs a terminal"),
    "screen of no job without a terminal": ([], "needs a terminal"),
    "scan a file that is not there": (["scan", "/nonexistent"], "/nonexistent"),
    "scan a folder": (["scan", "/"], "/"),
    "picture of an unknown kind": (["screenshot", OWN_PID, "-o", "x.bmp"], ".png, .svg, .html or .txt"),
    "picture without a name": (["screenshot", OWN_PID], "-o"),
    "picture without a PID": (["screenshot", "-o", "x.svg"], "no job given"),
    "picture of no size": (["screenshot", OWN_PID, "-o", "x.svg", "--size", "big"], "'big' is not a size"),
    "picture in a theme that is none": (["screenshot", OWN_PID, "-o", "x.svg", "--theme", "nope"], "nope"),
    "picture in a folder that is not there": (
        ["screenshot", OWN_PID, "-o", "/nonexistent/x.txt", "--for", "1"],
        "/nonexistent/x.txt",
    ),
    "demo of nothing": (["demo", "nope"], "no scenario 'nope'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_line_and_exit_2(name: str) -> None:
    arguments, expected = WRONG[name]
    done = run(*arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("hwtop: ") and done.stderr.count("\n") == 1, done.stderr
    assert expected in done.stderr


def test_stacks_of_what_is_no_python_is_one_line_and_exit_2(sleeper: str) -> None:
    done = run("stacks", sleeper)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "is not a Python process" in done.stderr


def test_wrong_theme_in_a_terminal_lists_the_right_ones(tmp_path: Path) -> None:
    with Tmux(tmp_path, 120, 30) as terminal:
        terminal.run(hwtop("--theme", "nope", OWN_PID) + "; echo code $?")
        screen = terminal.wait_for("code 2")
        assert "no theme 'nope': choose one of" in screen
        assert "Traceback" not in screen
        assert not terminal.is_alternate()


@pytest.mark.parametrize(
    "arguments", [["-V"], ["-h"], ["live", "-h"], *([name, "-h"] for name in COMMANDS)], ids=" ".join
)
def test_version_and_help_exit_0(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("hwtop" if arguments == ["-V"] else "Usage: hwtop")


HEADLESS = {
    "diagnose": ["diagnose", OWN_PID, "--for", "1"],
    "snapshot": ["snapshot", "--json"],
    "stacks": ["stacks", OWN_PID],
    "scan": ["scan", "-"],
    "demo --list": ["demo", "--list"],
    "help": ["-h"],
}


@pytest.mark.parametrize("name", HEADLESS)
def test_headless_commands_never_import_the_screen(name: str) -> None:
    code = (
        "import sys\nfrom hwtop.cli import main\n"
        f"try:\n    main({HEADLESS[name]!r})\n"
        "except SystemExit as ended:\n    assert ended.code in (0, 1, None), ended.code\n"
        "loaded = {module.split('.')[0] for module in sys.modules} & {'textual', 'rich'}\n"
        "sys.exit(f'imported {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_output_that_nobody_reads_any_more_is_no_error(tmp_path: Path) -> None:
    with Tmux(tmp_path, 100, 20) as terminal:
        said = terminal.answer(hwtop("snapshot", "--json") + " | true")
        assert "Traceback" not in said and "Broken pipe" not in said
