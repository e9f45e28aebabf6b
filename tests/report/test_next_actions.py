"""Which steps an agent may run by itself, and which only a person."""

from __future__ import annotations

import pytest

from hwtop.job.patterns.registry import builtin
from hwtop.report.frame.next_actions import action, next_actions
from hwtop.symptoms.records import records
from tests import frames
from tests.parts import replace

STEPS = [
    ("tail -n 50 /runs/rank_5.log   # what it did last", "observe"),
    ("ls -l /proc/7/fd | awk '{print $NF}' | sort | uniq -c   # which files", "observe"),
    ("py-spy dump --nonblocking --pid 7   # which holds the lock", "observe"),
    ("timeout 5 stat -f /data   # does the file system answer?", "observe"),
    ("sudo dmesg -T | tail -n 50   # what the kernel logged", "ask"),
    ("curl -sSI https://huggingface.co   # proxy", "ask"),
    ("py-spy dump --native --pid 7   # pauses the process", "intrudes"),
    ("kill -CONT 7   # let it continue", "intrudes"),
    ("taskset -acp 0-3 7   # moves rank 1", "intrudes"),
    ("sudo nvidia-smi -i 3 -pl 700   # the usual limit", "intrudes"),
    ("sudo nvidia-smi --gpu-reset -i 3   # once no process uses it", "may-end-job"),
    ("ps -fp 7 && kill 7   # whose it is", "may-end-job"),
]
NO_ACTIONS = [
    "Restart from the last checkpoint",
    "If it does not recover: kill the job, restart from the last checkpoint",
    "df -h of the checkpoint directory, and its permissions",
    "CUDA_LAUNCH_BLOCKING=1   # the Python line that launched the kernel",
    "cat /proc/7/status; some-tool --of ours   # what it does is not known",
    "cat $(find / -name x)   # a command in the command",
    "cat `find / -name x`   # a command in the command",
    "cat a > b   # overwrites",
    "tail 'log   # a quote that is not closed",
]


@pytest.mark.parametrize(("step", "expected"), STEPS)
def test_the_class_of_a_command_is_that_of_its_gravest_part(step: str, expected: str) -> None:
    found = action(step, "title")
    assert found is not None
    assert (found.class_, found.command, found.why) == (expected, *step.split("   # "))


def test_a_command_behind_its_reason_is_found() -> None:
    found = action("Read the last lines of rank 3: tail -n 50 /runs/3.log", "title")
    assert found is not None
    assert (found.command, found.why) == ("tail -n 50 /runs/3.log", "Read the last lines of rank 3")


@pytest.mark.parametrize("step", NO_ACTIONS)
def test_what_is_no_command_or_has_an_unknown_effect_is_no_action(step: str) -> None:
    assert action(step, "title") is None


def test_no_step_that_changes_something_is_called_observing() -> None:
    steps = [step for record in records().values() for step in record.plain_steps]
    steps += [step for pattern in builtin().patterns for step in pattern.playbook]
    observing = [found.command for step in steps if (found := action(step, "")) and found.class_ == "observe"]
    assert observing
    changing = ("sudo", "kill", "reset", "restart", "remount", "--native", "attach", " -pl ", " -w")
    assert [command for command in observing if any(word in command for word in changing)] == []


def test_each_command_comes_once_and_the_gravest_finding_first() -> None:
    frame = frames.dead_rank()
    (first,) = frame.findings
    first = replace(first, next_steps=("ps -fp 1   # a", "Restart it"))
    second = replace(first, next_steps=("ps -fp 1   # b", "free -h   # c"))
    found = next_actions(replace(frame, findings=(first, second)))
    assert [(each.command, each.why) for each in found] == [("ps -fp 1", "a"), ("free -h", "c")]
