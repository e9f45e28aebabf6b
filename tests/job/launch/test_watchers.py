"""hwtop, the shells above it and other monitors are no part of the job, wherever they run."""

from __future__ import annotations

import pytest

from hwtop.job.launch.watchers import without_watchers
from hwtop.model.process import ProcessInfo
from tests.job.launch.test_tree import process

STEPD = process(50, 1, "slurmstepd: [4711.0]", comm="slurmstepd")
RANKS = [process(60, 50, "python|train.py"), process(61, 50, "python|train.py"), process(70, 60, "python|train.py")]
SHELL = [process(80, 50, "/bin/bash|-c|timeout 9m hwtop wait 60"), process(81, 80, "timeout|9m|hwtop|wait|60")]
OWN = 82
MONITOR = [
    process(90, 50, "/bin/bash|watch.sh"),
    process(91, 90, "python|/venv/bin/hwtop|web"),
    process(92, 91, "py-spy|dump"),
]


def left(*processes: ProcessInfo, watchers: tuple[int, ...] = (), target: int = 60) -> list[int]:
    return [each.pid for each in without_watchers(processes, watchers, target)]


def test_without_a_monitor_all_stays() -> None:
    assert left(STEPD, *RANKS) == [50, 60, 61, 70]


def test_the_shells_above_hwtop_in_the_step_of_the_ranks_are_left_out() -> None:
    assert left(STEPD, *RANKS, *SHELL, watchers=(OWN, 81, 80, 50, 1)) == [50, 60, 61, 70]


def test_another_monitor_with_all_that_it_started_is_left_out() -> None:
    assert left(STEPD, *RANKS, *MONITOR) == [50, 60, 61, 70]


def test_a_job_is_over_when_only_its_watchers_are_left() -> None:
    assert left(STEPD, *SHELL, *MONITOR, watchers=(OWN, 81, 80, 50, 1)) == []


def test_a_script_that_starts_the_job_and_a_monitor_stays_as_long_as_the_job() -> None:
    script = process(90, 50, "/bin/bash|batch.sh")
    job, monitor = process(60, 90, "python|train.py"), process(91, 90, "python|-m|hwtop|wait|60")
    assert left(script, job, monitor) == [90, 60]
    assert left(script, monitor) == []


AGENT = [
    process(90, 50, "/bin/bash|-l"),
    process(91, 90, "node|/usr/bin/agent"),
    process(92, 91, "/venv/bin/python|/venv/bin/hwtop|mcp"),
    process(93, 91, "/bin/bash|-c|python plot.py"),
    process(94, 93, "python|plot.py"),
]


def test_a_coding_agent_in_the_step_of_the_ranks_is_left_out_with_its_server_and_its_shells() -> None:
    assert left(STEPD, *RANKS, *AGENT) == [50, 60, 61, 70]
    assert left(STEPD, *RANKS, *AGENT, watchers=(92, 91, 90, 50, 1)) == [50, 60, 61, 70]


def test_ranks_stay_when_the_process_that_the_user_named_has_ended() -> None:
    assert {60, 61, 70} <= set(left(STEPD, *RANKS, *AGENT, target=59))


def test_a_job_that_the_coding_agent_started_stays() -> None:
    job = process(60, 93, "python|train.py"), process(61, 60, "python|train.py")
    assert {60, 61} <= set(left(*AGENT, *job)) and 92 not in left(*AGENT, *job)


def test_a_program_that_starts_a_monitor_of_itself_stays() -> None:
    assert left(process(60, 1, "python|train.py"), process(91, 60, "python|/venv/bin/hwtop|wait|60")) == [60]


@pytest.mark.parametrize("target", ["python|/venv/bin/hwtop|60", "/bin/bash|run.sh"])
def test_what_the_user_names_stays(target: str) -> None:
    named = process(40, 1, target)
    assert left(named, process(91, 40, "python|/venv/bin/hwtop|40"), watchers=(91, 40), target=40) == [40]


@pytest.mark.parametrize("command", ["python|train.py|--name|hwtop", "python|-m|hwtop.demo.train", "vim|hwtop"])
def test_what_only_has_the_name_is_no_monitor(command: str) -> None:
    assert left(STEPD, process(60, 50, command)) == [50, 60]
