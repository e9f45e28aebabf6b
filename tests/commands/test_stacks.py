from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo, ProcessReading
from hwtop.model.stack import StackDump
from hwtop.report.job.stacks import stacks_report, watched
from hwtop.report.job.stacks_text import stacks_text
from tests.schemas import valid
from tests.stack_jobs import QUEUE_JOB, recorded, running, stack, two_ranks, until

pytestmark = pytest.mark.real


def hwtop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hwtop", *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def job() -> Iterator[int]:
    with running(QUEUE_JOB, "fork") as pid:
        yield pid


def test_json_holds_ranks_threads_groups_and_the_sentence(job: int) -> None:
    def read() -> dict[str, object]:
        done = hwtop("stacks", str(job), "--json")
        assert done.returncode in (0, 2), done.stderr
        found: dict[str, object] = valid("stacks", done.stdout) if done.returncode == 0 else {}
        return found

    report = until(read, lambda found: "next_batch" in str(found.get("sentence")))
    assert {"target", "sentence", "ranks", "groups", "blind"} <= set(report)
    ranks = report["ranks"]
    assert isinstance(ranks, list)
    assert (ranks[0]["rank"], ranks[0]["pid"], ranks[0]["phase"]) == (0, job, "data")
    assert ranks[0]["threads"][0]["name"] == "MainThread"
    assert str(report["sentence"]).startswith("rank 0 is in next_batch (queue_trainer.py:36 main): its 1 worker is in ")


def test_text_of_two_ranks_that_disagree_from_either_pid() -> None:
    with two_ranks("disagree") as pids:
        done = until(lambda: hwtop("stacks", str(pids[1])), lambda each: "rank 1 waits in all_reduce (" in each.stdout)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "* torch_trainer.py:" in done.stdout and "sync_step" in done.stdout


def test_a_pid_that_is_no_python_is_one_line_and_exit_2() -> None:
    sleeper = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    done = hwtop("stacks", str(sleeper.pid))
    sleeper.kill()
    sleeper.wait()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "is not a Python process" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("pid", ["999999999", "abc", "0"])
def test_a_wrong_pid_is_one_line_and_exit_2(pid: str) -> None:
    done = hwtop("stacks", pid)
    assert done.returncode == 2
    assert done.stderr.startswith("hwtop: ") and done.stderr.count("\n") == 1


def test_textual_is_not_imported() -> None:
    code = (
        "import sys; from hwtop.cli import main\n"
        f"try:\n    main(['stacks', '{os.getpid()}'])\nexcept SystemExit: pass\n"
        "sys.exit(any(name.split('.')[0] in ('textual', 'rich') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


def reading(target_pid: int, **states: str) -> ProcessReading:
    processes = tuple(
        ProcessInfo(
            pid=int(pid[1:]),
            ppid=1,
            comm="python",
            state=state,
            start_ticks=1,
            user_ticks=0,
            system_ticks=0,
            thread_count=1,
        )
        for pid, state in states.items()
    )
    return ProcessReading(at_s=1.0, ticks_per_s=100, target_pid=target_pid, root_pid=1, processes=processes)


def member(pid: int, rank: int, role: str = "rank") -> Member:
    return Member(pid=pid, ppid=1, depth=1, role="rank" if role == "rank" else "loader-worker", rank=rank)


def test_report_of_ranks_workers_and_one_that_is_blind() -> None:
    members = (member(10, 0), member(11, 1), member(12, 2), member(20, 1, "worker"), member(21, 1, "worker"))
    dumps = [
        StackDump(pid=10, at_s=1.0, threads=(recorded("gloo_rank1_all_reduce"),)),
        StackDump(pid=11, at_s=1.0, threads=(recorded("torch_data_wait"),)),
        StackDump(pid=20, at_s=1.0, threads=(recorded("torch_loader_worker"),)),
        StackDump(pid=21, at_s=1.0, threads=(recorded("torch_loader_worker"),)),
        StackDump(pid=12, at_s=1.0, error="no permission", advice="sudo"),
    ]
    report = stacks_report(reading(11, p20="D", p21="D"), members, dumps)
    assert report.sentence == (
        "rank 0 waits in all_reduce (trainer.py:78 sync_step), rank 1 is in _try_get_data (trainer.py:36 main): "
        "its 2 workers are in D state"
    )
    assert [each.phase for each in report.ranks] == ["collective", "data", None]
    assert [entry.pids for entry in report.worker_groups] == [(20, 21)]
    assert report.worker_groups[0].at.ranks == (1,)
    text = stacks_text(report)
    assert text.splitlines()[0] == report.sentence
    assert "2 loader workers of rank 1" in text
    assert "* trainer.py:18 decode" in text
    assert "not read: no permission; sudo" in text


def test_escape_sequences_in_names_are_made_visible() -> None:
    report = stacks_report(
        reading(10), (member(10, 0),), [StackDump(pid=10, at_s=1.0, threads=(stack("evil\x1b[31m train.py 3"),))]
    )
    assert "\x1b" not in stacks_text(report)


def test_without_any_rank_the_process_itself_is_looked_at() -> None:
    other = Member(pid=5, ppid=1, depth=0, role="other")
    assert [(each.pid, each.rank) for each in watched([other], 5)] == [(5, 0)]
