"""What happens to the watched job, to its logs and to the terminal: the screen lives and the terminal is restored."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.demo.test_run import rank_pids, wait_until
from tests.terminal.conftest import Open, Start, scenario, wait_for_ticks
from tests.terminal.tmux import PROMPT, Tmux, hwtop

pytestmark = pytest.mark.real


def watch(terminal: Tmux, pid: int) -> None:
    terminal.run(hwtop(pid))
    terminal.wait_for(r"2 ranks")


def test_stopped_continued_and_killed_rank_and_the_end_of_the_job(open_terminal: Open, start: Start) -> None:
    job = start(scenario("dead", "--fault-step", "1000000", "--device-ms", "150"))
    terminal = open_terminal(120, 40)
    watch(terminal, job.launcher_pid)
    wait_until(lambda: len(rank_pids(job)) == 2, "two ranks")
    victim = rank_pids(job)[1]
    terminal.wait_for(rf"1\s+{victim} .* (training|collective-wait|data-wait)")

    os.kill(victim, signal.SIGSTOP)
    terminal.wait_for(rf"1\s+{victim} .* stopped")
    terminal.wait_for(r"CRITICAL +Rank 1 is stopped")
    os.kill(victim, signal.SIGCONT)
    terminal.wait_for(rf"1\s+{victim} .* (training|collective-wait|data-wait)")
    terminal.wait_for(r"✔ OK")

    os.kill(victim, signal.SIGKILL)
    terminal.wait_for(rf"1\s+{victim} .* dead")
    terminal.wait_for(r"CRITICAL +Rank 1 is dead")

    job.stop()
    terminal.wait_for("job ended")
    wait_for_ticks(terminal)
    terminal.send("9")
    terminal.wait_for("the job has ended")
    terminal.send("q")
    terminal.wait_for(rf"^hwtop: .*\n(.*\n)?{PROMPT}")


def test_resized_to_next_to_nothing_and_back(open_terminal: Open, start: Start) -> None:
    job = start()
    terminal = open_terminal(120, 40)
    watch(terminal, job.launcher_pid)
    for size in ((20, 5), (80, 24), (200, 60), (120, 40)):
        terminal.resize(*size)
        terminal.wait_until(lambda screen: screen.strip() and fits(screen, *size), f"picture of {size}")  # noqa: B023
        if size != (20, 5):  # too small for the clock
            wait_for_ticks(terminal, 1)
    terminal.send("q")
    terminal.wait_for(rf"^{PROMPT}$")


def fits(screen: str, width: int, height: int) -> bool:
    """Whether every row is used up to the right edge by a panel, or, when small, each fits at all."""
    rows = screen.rstrip("\n").split("\n")
    if width < 60:
        return len(rows) <= height and "OK" in rows[0] and all(len(row) <= width for row in rows)
    boxes = [row for row in rows if row[:1] in "╭│╰"]
    return len(rows) == height and len(boxes) >= 10 and all(len(row) == width for row in boxes)


def test_log_deleted_while_it_is_tailed(open_terminal: Open, start: Start, tmp_path: Path) -> None:
    job = start()
    terminal = open_terminal(120, 40)
    watch(terminal, job.launcher_pid)
    terminal.wait_for(r"0 .*│ step \d+/5000")
    for log in (tmp_path / "job").glob("*.log"):
        log.unlink()
    wait_for_ticks(terminal, 3)
    screen = terminal.screen()
    assert "Traceback" not in screen and terminal.is_alternate()
    terminal.send("q")
    terminal.wait_for(rf"^{PROMPT}$")


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_leaving_restores_the_terminal_and_keeps_the_verdict(key: str, open_terminal: Open, start: Start) -> None:
    job = start()
    terminal = open_terminal(100, 30)
    before = settings(terminal)
    watch(terminal, job.launcher_pid)
    assert terminal.is_alternate()
    terminal.send(key)
    terminal.wait_until(lambda _: not terminal.is_alternate(), "end of the alternate screen")
    terminal.wait_for(rf"^{PROMPT}$")
    assert re.search(r"^hwtop: \S", terminal.screen(), re.MULTILINE)
    assert settings(terminal) == before
    assert terminal.flags() == "cursor 1 mouse 0"
    assert "still 42" in terminal.answer("echo still $((40 + 2))")
    assert job.members(job.launcher_pid), "the watched job goes on"


def settings(terminal: Tmux) -> str:
    """What `stty -a` says of the terminal."""
    said = terminal.answer("stty -a")
    return said[said.index("speed") :]


def test_help_page_and_pause_answer_to_keys(open_terminal: Open, start: Start) -> None:
    job = start()
    terminal = open_terminal(80, 24)
    watch(terminal, job.launcher_pid)
    for key, expected in (("3", "Where the ranks are"), ("5", "Logs of all ranks"), ("9", "─ Processes ")):
        terminal.send(key)
        terminal.wait_for(expected)
    terminal.send("?")
    terminal.wait_for("─ Help ─")
    terminal.send("C-c")
    terminal.wait_for(rf"^{PROMPT}$")


@pytest.mark.parametrize("end", ["SIGHUP", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_when_the_demo_is_ended_from_outside(end: str, open_terminal: Open) -> None:
    terminal = open_terminal(100, 30)
    terminal.run(hwtop("demo", "--stdlib", "hang"))
    terminal.wait_for(r"2 ranks")
    assert len(terminal.pids()) >= 6  # shell, hwtop, launcher, two ranks and their workers
    if end == "SIGHUP":
        terminal.kill()
        wait_until(lambda: not terminal.pids(), "nothing left")
        return
    monitor = next(pid for pid in terminal.pids() if "hwtop\0demo" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(monitor, getattr(signal, end))
    wait_until(lambda: terminal.pids() == {terminal.pane_pid()}, "only the shell left")
    if end == "SIGTERM":
        terminal.wait_for(rf"^{PROMPT}$")
        assert not terminal.is_alternate()


def test_choosing_a_job_without_a_pid(open_terminal: Open, start: Start) -> None:
    job = start()
    terminal = open_terminal(120, 40)
    terminal.run(hwtop())
    terminal.wait_for(rf"\b{job.launcher_pid}\b")
    screen = terminal.screen()
    rows = [line for line in screen.splitlines() if re.search(rf"\b{job.launcher_pid}\b", line)]
    assert rows, screen
    terminal.send("Enter")
    terminal.wait_for(r"· \d+ ranks? ·")


def test_standard_error_in_a_file_does_not_blank_the_screen(open_terminal: Open, start: Start, tmp_path: Path) -> None:
    job = start()
    terminal = open_terminal(120, 40)
    errors = tmp_path / "errors.txt"
    terminal.run(f"{hwtop(job.launcher_pid)} 2>{errors}")
    terminal.wait_for("Nothing wrong found")
    terminal.send("q")
    terminal.wait_until(lambda screen: "hwtop: Nothing wrong found" in screen, "the verdict in the scrollback")
    assert errors.read_text() == ""
