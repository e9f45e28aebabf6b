"""Report blocks: an event gets what the lines around it say."""

from __future__ import annotations

from hwtop.model.reported.log import LogEvent, LogLine
from tests.matching import match


def events_of(text: str) -> list[LogEvent]:
    return match(
        LogLine(path="a.log", line_no=number, text=one, at_s=0.0)
        for number, one in enumerate(text.strip("\n").split("\n"), start=1)
    )


TABLE = """
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2025-01-02_03:04:05
  host      : node1
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 101)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 101
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-01-02_03:04:04
  host      : node2
  rank      : 9 (local_rank: 1)
  exitcode  : -9 (pid: 202)
  error_file: /tmp/err/error.json
  traceback : Signal 9 (SIGKILL) received by PID 202
============================================================
"""


def test_the_table_of_failures_tells_rank_and_host_of_each() -> None:
    exits = {event.rank: event for event in events_of(TABLE) if event.groups.get("exit")}
    assert set(exits) == {1, 9}
    assert exits[1].groups["exit"] == "-15" and "first" not in exits[1].groups
    assert exits[9].groups == {
        "exit": "-9", "exit_pid": "202", "host": "node2", "local_rank": "1", "first": "yes",
    }  # fmt: skip
    (killed,) = [event for event in events_of(TABLE) if "SIGKILL" in event.text]
    assert (killed.rank, killed.groups["error_file"]) == (9, "/tmp/err/error.json")


KERNEL = """
[ 91.1] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[ 91.2] CPU: 3 PID: 4242 Comm: python
[ 91.3] memory: usage 8388608kB, limit 8388608kB, failcnt 731
[ 91.4] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,mems_allowed=0,oom_memcg=/slurm/job_7,task_memcg=/slurm/job_7/step_0,task=python,pid=4242,uid=1000
[ 91.5] Memory cgroup out of memory: Killed process 4242 (python) total-vm:29359992kB, anon-rss:8282608kB, file-rss:0kB
"""


def test_the_kernels_report_names_victim_size_and_limit() -> None:
    killed = events_of(KERNEL)[-1]
    assert killed.pattern == "host-oom-kill"
    assert killed.groups == {
        "pid": "4242", "task": "python", "total_kb": "29359992", "rss_kb": "8282608",
        "limit_kb": "8388608", "memcg": "/slurm/job_7",
    }  # fmt: skip


def test_slurm_says_how_many_were_killed() -> None:
    (event,) = events_of(
        "slurmstepd: error: Detected 3 oom_kill events in StepId=77.0. Some of the step tasks have been OOM Killed."
    )
    assert (event.pattern, event.role, event.groups["kills"]) == ("host-oom-kill", "confirmation", "3")


def test_a_native_exception_and_what_it_says() -> None:
    events = events_of(
        "terminate called after throwing an instance of 'std::runtime_error'\n"
        "  what():  cannot open device\n"
        "Aborted (core dumped)\n"
    )
    (said,) = [event for event in events if event.groups.get("message")]
    assert (said.groups["exception"], said.groups["message"]) == ("std::runtime_error", "cannot open device")


def test_what_a_pattern_explains_is_told_once() -> None:
    events = events_of(
        "terminate called after throwing an instance of 'c10::Error'\n"
        "  what():  CUDA error: an illegal memory access was encountered\n"
    )
    assert [event.pattern for event in events if event.line_no == 2] == ["illegal-memory-access"]


def test_a_crash_in_native_code_has_a_python_place() -> None:
    events = events_of(
        "Fatal Python error: Segmentation fault\n"
        "\n"
        "Thread 0x00007f01 (most recent call first):\n"
        '  File "/job/queue.py", line 3 in wait\n'
        "Current thread 0x00007f02 (most recent call first):\n"
        '  File "/job/model.py", line 41 in forward\n'
        '  File "/job/train.py", line 9 in main\n'
    )
    assert [(event.pattern, event.role, event.groups.get("at")) for event in events] == [
        ("segfault", "root", None),
        ("segfault", "context", "/job/model.py:41 in forward"),
    ]
