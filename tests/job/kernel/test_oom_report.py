"""The kernel's reports of OOM kills."""

from __future__ import annotations

import pytest

from hwtop.job.kernel.oom_report import LITERALS, OomKill, OomReports
from tests.kernel_lines import kernel_lines


def kills(name: str) -> list[OomKill]:
    reports = OomReports()
    return [kill for line in kernel_lines(name) if (kill := reports.add(line.text, line.at_s)) is not None]


def test_a_cgroup_that_is_full() -> None:
    (kill,) = kills("memcg_oom.kmsg")
    assert (kill.pid, kill.task, kill.is_global) == (111, "python", False)
    assert kill.limit_cgroup == kill.victim_cgroup == "/slurm/uid_1000/job_77/step_0"
    assert (kill.limit_bytes, kill.anon_bytes) == (100 * 2**20, 96604 * 1024)


def test_a_machine_that_is_full() -> None:
    (kill,) = kills("global_oom.kmsg")
    assert (kill.pid, kill.is_global, kill.limit_cgroup, kill.limit_bytes) == (111, True, None, None)
    assert kill.victim_cgroup == "/user.slice/user-1000.slice/session-3.scope"
    assert kill.anon_bytes == 116204928 * 1024


def test_before_linux_4_19_one_kill_takes_two_lines() -> None:
    (kill,) = kills("old_oom.kmsg")
    assert (kill.pid, kill.limit_cgroup, kill.limit_bytes) == (111, "/slurm/uid_1000/job_77", 64 * 2**30)
    assert (kill.anon_bytes, kill.shared_bytes) == (65321332 * 1024, 512 * 1024)


def test_one_report_may_have_several_victims() -> None:
    reports = OomReports()
    texts = (
        "memory: usage 1024kB, limit 1024kB, failcnt 1",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=x,pid=5,uid=0",
        "Tasks in /a are going to be killed due to memory.oom.group set",
        "Memory cgroup out of memory: Killed process 5 (x) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB",
        "Memory cgroup out of memory: Killed process 6 (y (z)) total-vm:1kB, anon-rss:2kB, file-rss:0kB, shmem-rss:0kB",
    )
    found = [kill for text in texts if (kill := reports.add(text, 1.0)) is not None]
    assert [(kill.pid, kill.limit_cgroup, kill.limit_bytes, kill.anon_bytes) for kill in found] == [
        (5, "/a", 2**20, 1024),
        (6, "/a", 2**20, 2048),
    ]


def test_the_lines_of_an_older_report_tell_nothing_of_a_new_one() -> None:
    reports = OomReports()
    reports.add("memory: usage 1024kB, limit 1024kB, failcnt 1", 1.0)
    kill = reports.add("Memory cgroup out of memory: Killed process 5 (x) total-vm:1kB, anon-rss:1kB", 60.0)
    assert kill is not None
    assert (kill.limit_cgroup, kill.limit_bytes) == (None, None)


def test_no_limit_is_no_number() -> None:
    reports = OomReports()
    reports.add("memory: usage 1024kB, limit 9007199254740988kB, failcnt 1", 1.0)
    kill = reports.add("Memory cgroup out of memory: Killed process 5 (x) total-vm:1kB, anon-rss:1kB", 1.0)
    assert kill is not None and kill.limit_bytes is None


@pytest.mark.parametrize("name", ["memcg_oom.kmsg", "global_oom.kmsg", "old_oom.kmsg"])
def test_the_literals_keep_all_that_a_report_needs(name: str) -> None:
    reports = OomReports()
    lines = [line for line in kernel_lines(name) if any(literal in line.text.lower() for literal in LITERALS)]
    assert [kill for line in lines if (kill := reports.add(line.text, line.at_s)) is not None] == kills(name)
