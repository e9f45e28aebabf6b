"""What the signal menu says: to this very process, and to those that are left."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from hwtop.job.launch.signals import aftermath, effect, fate, harms, job_title, targets, title
from hwtop.model.job import Job
from hwtop.model.member import JobProcess, Launcher
from tests.parts import job_of, replace
from tests.symptoms.derived_states import rank


def mask(*numbers: int) -> int:
    return sum(1 << (number - 1) for number in numbers)


def process(pid: int = 1000, role: str = "rank", number: int | None = 0, **fields: Any) -> JobProcess:
    known: dict[str, Any] = {
        "pid": pid,
        "ppid": 1,
        "depth": 1,
        "role": role,
        "rank": number,
        "state": "S",
        "cpu_pct": 1.0,
        "rss_bytes": 1,
        "thread_count": 1,
        "read_bytes_per_s": 0.0,
        "written_bytes_per_s": 0.0,
        "fd_count": 3,
        "wchan": "futex_wait",
        "threads": {},
        "thread_states": {},
        "command": "python train.py",
        "caught_signals": mask(signal.SIGINT),
        "ignored_signals": mask(signal.SIGPIPE),
        "start_ticks": pid,
    }
    return JobProcess(**(known | fields))


LAUNCHER = process(900, "launcher", None, caught_signals=mask(signal.SIGTERM, signal.SIGINT))
WORKER = process(2000, "loader-worker", 0)


def job(kind: str | None = "torchrun", ranks: int = 8, **fields: Any) -> Job:
    rows = (*([LAUNCHER] if kind else []), process(), WORKER, *(process(1000 + n, "rank", n) for n in range(1, ranks)))
    known: dict[str, Any] = {
        "target_pid": 900,
        "launcher": Launcher(pid=900, kind=kind, command="torchrun") if kind else None,
        "world_size": ranks,
        "ranks": tuple(rank(n) for n in range(ranks)),
        "processes": rows,
    }
    return job_of(**(known | fields))


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("SIGTERM", {}, "ends"),
        ("SIGINT", {}, "handler"),
        ("SIGUSR1", {}, "ends"),
        ("SIGUSR1", {"caught_signals": mask(signal.SIGUSR1)}, "handler"),
        ("SIGUSR2", {"ignored_signals": mask(signal.SIGUSR2)}, "ignored"),
        ("SIGTERM", {"caught_signals": None}, "unknown"),
        ("SIGKILL", {"caught_signals": None}, "ends"),
        ("SIGKILL", {"state": "Z"}, "nothing"),
        ("SIGSTOP", {}, "pauses"),
        ("SIGSTOP", {"state": "T"}, "nothing"),
        ("SIGCONT", {}, "nothing"),
        ("SIGCONT", {"state": "T"}, "resumes"),
    ],
)
def test_fate(name: str, fields: dict[str, Any], expected: str) -> None:
    assert fate(name, process(**fields)) == expected


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("SIGUSR1", {}, "no handler: kills it"),
        ("SIGTERM", {"caught_signals": mask(signal.SIGTERM)}, "requests termination"),
        ("SIGINT", {}, "KeyboardInterrupt"),
        ("SIGKILL", {}, "kills it immediately, nothing is saved"),
        (
            "SIGKILL",
            {"state": "D", "wchan": "nfs_wait"},
            "takes effect when it returns from the kernel (wchan nfs_wait)",
        ),
        ("SIGTERM", {"state": "T"}, "takes effect after SIGCONT"),
        ("SIGCONT", {}, "it is not stopped"),
        ("SIGSTOP", {"state": "T"}, "it is already stopped"),
        ("SIGTERM", {"state": "Z"}, "it has already exited"),
    ],
)
def test_effect_on_one(name: str, fields: dict[str, Any], words: str) -> None:
    found = targets(job(ranks=1, processes=(process(**{"state": "S", **fields}),)), 1000, 0)
    reported = effect(name, found[0]) if found else "no effect: it has already exited"
    assert words in reported


def test_targets_start_with_what_is_selected() -> None:
    titles = [target.title for target in targets(job(), WORKER.pid, 0)]
    assert titles == [
        "loader worker of rank 0 · PID 2000",
        "rank 0 · PID 1000",
        "rank 0 and its 1 helper",
        "the whole job, through its launcher · PID 900",
        "all 10 processes of the job",
    ]
    assert next(target.title for target in targets(job(), None, 3)) == "rank 3 · PID 1003"
    assert [target.title for target in targets(job(), LAUNCHER.pid, None)] == [
        "launcher · PID 900",
        "all 10 processes of the job",
    ]
    assert [len(target.processes) for target in targets(job(), None, None)] == [1, 10]


def test_the_only_rank_needs_no_choosing() -> None:
    alone = job(None, 1, processes=(process(),))
    assert [target.processes[0].pid for target in targets(alone, None, None)] == [1000]
    assert targets(job(), None, None)[0].processes[0].pid == 900, "of eight ranks none is meant"


def test_the_dead_are_no_targets() -> None:
    assert targets(job(processes=(process(state="Z"),)), 1000, 0) == ()


@pytest.mark.parametrize(
    ("kind", "name", "pid", "words"),
    [
        ("torchrun", "SIGKILL", 1000, "Then torchrun terminates the other 7 ranks"),
        ("mpirun", "SIGKILL", 1000, "Then mpirun aborts the other 7 ranks"),
        ("srun", "SIGKILL", 1000, "--kill-on-bad-exit"),
        (None, "SIGKILL", 1000, "Then the other 7 ranks hang in the next collective"),
        ("torchrun", "SIGSTOP", 1000, "Meanwhile the other 7 ranks wait"),
        ("torchrun", "SIGUSR1", 1000, "Then torchrun terminates the other 7 ranks"),
        ("torchrun", "SIGCONT", 1000, ""),
        ("torchrun", "SIGTERM", 900, "the regular way"),
        ("torchrun", "SIGKILL", 900, "without a launcher"),
        ("torchrun", "SIGSTOP", 900, "its 8 ranks continue"),
        ("torchrun", "SIGKILL", 2000, "rank 0 fails"),
        ("torchrun", "SIGSTOP", 2000, "rank 0 waits for its data"),
    ],
)
def test_aftermath(kind: str | None, name: str, pid: int, words: str) -> None:
    watched = job(kind)
    target = targets(watched, pid, None)[0]
    reported = aftermath(name, target, watched)
    assert words in reported
    assert bool(reported) == bool(words)


def test_all_at_once() -> None:
    watched = job()
    everything = targets(watched, None, None)[-1]
    assert effect("SIGTERM", everything) == "1 × own handler runs, 9 × killed immediately"
    assert aftermath("SIGTERM", everything, watched) == "No process of the job continues."
    assert harms("SIGSTOP", everything)
    assert not harms("SIGCONT", everything)


def test_a_rank_with_a_handler_may_outlive_a_signal_to_all() -> None:
    bit = 1 << (signal.SIGTERM - 1)
    both = (
        process(caught_signals=0, ignored_signals=0),
        process(1001, number=1, caught_signals=bit, ignored_signals=0),
    )
    watched = job(ranks=2, processes=both)
    reported = aftermath("SIGTERM", targets(watched, None, None)[-1], watched)
    assert reported == "Ranks that handle or ignore it may continue."
    assert aftermath("SIGKILL", targets(watched, None, None)[-1], watched) == "No process of the job continues."


def test_what_a_person_has_put_together_comes_first() -> None:
    watched = job()
    pair = watched.processes[1:3]
    first, *_ = targets(watched, None, None, [("2 tagged processes", pair)])
    assert (first.title, first.processes) == ("2 tagged processes", pair)
    (alone, *_), title_of = targets(watched, None, None, [("1 tagged processes", pair[:1])]), title(pair[0])
    assert alone.title == title_of
    dead = tuple(replace(item, state="Z") for item in pair)
    assert targets(watched, None, None, [("2 tagged processes", dead)]) == targets(watched, None, None)


def test_the_name_of_the_job() -> None:
    assert job_title(job()).startswith("torchrun ")
    assert (
        job_title(job(None, processes=(process(7, command="python train.py"),), target_pid=7))
        == "PID 7: python train.py"
    )


def test_the_last_rank() -> None:
    watched = job(ranks=1)
    assert aftermath("SIGKILL", targets(watched, 1000, 0)[0], watched) == "Then no rank is left."
