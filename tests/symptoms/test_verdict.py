from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from hwtop.model.hang import Rendezvous
from hwtop.model.job import Job, JobStacks
from hwtop.model.liveness import Liveness
from hwtop.model.process import JobCandidate
from hwtop.model.rank import Rank, RankState
from hwtop.model.reported.log import Progress, Severity
from hwtop.model.stack import StackDump
from hwtop.model.symptom import Episode, Finding
from hwtop.symptoms.verdict import EARLY_S, verdict_of
from tests.frames import frame_of
from tests.parts import replace
from tests.symptoms.derived_states import derived, job, rank, row, shares, stack_group


def verdict(watched: Job | None, *findings: Finding, watched_s: float = 12.0, **fields: Any) -> tuple[str, str]:
    found = verdict_of(derived(12.0, watched, **fields), findings, watched_s)
    return found.level, found.text


def finding(title: str, severity: str = "critical") -> Finding:
    return Finding(
        symptom="hang",
        severity=severity,  # type: ignore[arg-type]
        confidence=0.9,
        category="stability",
        title=title,
        evidence=(),
        next_steps=(),
    )


def candidate(kind: str) -> JobCandidate:
    return JobCandidate(pid=7, kind=kind, title="train.py", user="ada", ranks=1, age_s=1.0, can_attach=True)


def test_the_first_finding_that_matters() -> None:
    watched = job(rank())
    assert verdict(watched, finding("It hangs")) == ("critical", "It hangs")
    assert verdict(watched, finding("It hangs"), finding("It is slow", "warning"), finding("By the way", "info")) == (
        "critical",
        "It hangs (and 1 more)",
    )


def test_a_finding_of_a_job_that_has_ended_comes_before_the_end() -> None:
    assert verdict(job(rank(), has_ended=True), finding("Rank 0 ran out of memory"))[1] == "Rank 0 ran out of memory"


def test_what_is_only_worth_knowing_is_not_what_is_wrong() -> None:
    assert verdict(job(rank()), finding("By the way", "info")) == ("info", "Nothing proven wrong in 12 s; By the way")


def test_a_healthy_job_tells_its_pace() -> None:
    ranks = [rank(number, progress=Progress(step=100 + number), step_time_s=0.2 + number / 10) for number in range(3)]
    assert verdict(job(*ranks)) == ("ok", "Nothing wrong found in 12 s: step 102, 0.3 s/step")
    assert verdict(job(rank(progress=None, step_time_s=None))) == (
        "ok",
        "Nothing wrong found in 12 s; no step or loss in a log",
    )


def test_a_job_that_starts() -> None:
    ranks = [rank(number, state="starting", phase="rendezvous") for number in range(2)]
    assert verdict(job(*ranks)) == ("info", "Starting: ranks 0-1 in rendezvous")


def test_a_launcher_that_waits_for_other_nodes() -> None:
    meeting = Rendezvous(waiting_s=5.0, watched_s=5.0, age_s=9.0, ranks=(), launcher_pid=900, here=1)
    assert verdict(job(rendezvous=meeting)) == ("info", "Starting: the launcher waits in the rendezvous")


def test_nothing_is_called_well_before_enough_was_seen() -> None:
    pace = rank(progress=Progress(step=7), step_time_s=0.2)
    assert verdict(job(pace), watched_s=3.0) == ("unknown", "Too early for a verdict after 3 s: step 7, 0.2 s/step")
    assert verdict(job(pace), finding("It hangs"), watched_s=3.0) == ("critical", "It hangs")
    assert verdict(job(pace), watched_s=EARLY_S)[0] == "ok"


def test_a_rank_that_waits_for_data_is_not_called_well() -> None:
    waiting = [rank(number, state="data-wait") for number in range(2)]
    assert verdict(job(*waiting)) == ("info", "Nothing proven wrong in 12 s; ranks 0-1 wait mostly for data")
    assert verdict(job(waiting[0], rank(1)))[1].endswith("rank 0 waits mostly for data")


def test_a_rank_that_may_be_the_slow_one_is_not_called_well() -> None:
    waits = rank(0, state="collective-wait", wait_share=0.54)
    assert verdict(job(waits, rank(1, state="slow"))) == (
        "info",
        "Nothing proven wrong in 12 s; rank 0 waits 54 % of the time, it seems for rank 1",
    )


def test_a_rank_that_waits_for_long_for_another_one_is_not_called_well() -> None:
    waits = rank(0, liveness=Liveness(state="waiting", phi=4.1, gap_s=39.8, waits_for=(1,)))
    assert verdict(job(waits, rank(1))) == (
        "info",
        "Nothing proven wrong in 12 s; rank 0 waits for rank 1, for 40 s so far",
    )


def test_what_takes_long_beside_the_training_is_said() -> None:
    evaluates = rank(0, state="eval", phase="eval", phase_for_s=38.0)
    assert verdict(job(evaluates, rank(1))) == (
        "info",
        "Nothing proven wrong in 12 s; rank 0 has been evaluating for 38 s",
    )
    assert verdict(job(rank(0, state="eval", phase="eval", phase_for_s=8.0)))[0] == "ok"
    compiles = rank(0, phase_shares=shares(compile=0.9, forward=0.1))
    assert verdict(job(compiles))[1] == "Nothing proven wrong in 12 s; rank 0 compiles 90 % of the time"
    assert verdict(job(rank(0, phase_shares=shares(compile=0.4, forward=0.6))))[0] == "ok"


def test_a_rank_that_has_not_moved_is_not_called_well() -> None:
    silent: dict[str, Any] = {
        "progress": None,
        "step_time_s": None,
        "step_age_s": None,
        "log_age_s": 36.0,
        "log_interval_s": None,
    }
    lazy = rank(same_stack_for_s=31.0, idle_for_s=36.0, **silent)
    level, text = verdict(job(lazy))
    assert level == "info"
    assert text.startswith("Nothing proven wrong in 12 s; nothing has moved for 31 s")
    assert verdict(job(lazy, rank(1)))[0] == "ok"


def test_what_has_shown_no_progress_is_not_called_well() -> None:
    silent: dict[str, Any] = {"step_age_s": 40.0, "log_age_s": 40.0, "log_interval_s": None, "step_time_s": None}
    text = "No progress seen in 12 s: no step, no log line, and no stacks are read"
    assert verdict(job(rank(phase=None, **silent))) == ("unknown", text)
    computing = rank(same_function_for_s=11.0, os_state="R", main_thread_cpu_pct=99.0, **silent)
    assert verdict(job(computing))[0] == "unknown"
    assert verdict(job(rank(same_function_for_s=2.0, os_state="R", **silent)))[0] == "ok", "it goes on"
    assert verdict(job(rank(phase=None, **{**silent, "log_age_s": 3.0})))[0] == "ok", "it reports"


def test_a_log_that_is_late_is_not_called_well() -> None:
    def silent(number: int, age_s: float, interval_s: float, **fields: Any) -> Rank:
        return rank(number, log_age_s=age_s, step_age_s=age_s, log_interval_s=interval_s, **fields)

    late = [silent(number, 14.0 + number, 0.3) for number in range(2)]
    reported = ("info", "Nothing proven wrong in 12 s; no log line for 14 s, usually every 0.3 s")
    assert verdict(job(*late)) == reported
    assert verdict(job(*late), finding("By the way", "info")) == reported
    assert verdict(job(late[0], silent(1, 0.1, 0.3)))[0] == "ok"
    assert verdict(job(*late, silent(2, 14.0, 0.3, state="eval")))[0] == "ok"
    assert verdict(job(silent(0, 14.0, 5.0)))[0] == "ok"
    assert [verdict(job(silent(0, age_s, 0.2)))[0] for age_s in (5.9, 6.1)] == ["ok", "info"]
    beats = rank(0, log_age_s=14.0, step_age_s=0.2, log_interval_s=0.3)
    assert verdict(job(beats))[0] == "ok", "its steps come from somewhere else"


def test_what_was_wrong_before_is_not_forgotten_when_it_has_cleared() -> None:
    def episode(title: str, severity: Severity, cleared_s: float | None) -> Episode:
        return Episode(symptom="hang", severity=severity, title=title, seen_s=1.0, raised_s=2.0, cleared_s=cleared_s)

    def text(watched_s: float, *episodes: Episode) -> str:
        return verdict_of(derived(12.0, job(rank())), (), watched_s, episodes=episodes).text

    assert text(47.0, episode("By the way", "info", 37.0)).startswith("Nothing wrong found in 47 s: ")
    was = (episode("It was slow", "warning", 30.0), episode("It is crowded", "warning", 37.0))
    assert text(47.0, *was) == "Nothing wrong found for 10 s: step 100, 0.2 s/step; before: It is crowded"
    assert text(700.0, *was) == "Nothing wrong found for 11 min 03 s: step 100, 0.2 s/step"


def test_what_kept_a_job_before_somebody_ended_it_is_not_forgotten() -> None:
    def text(*, has_ended: bool, symptom: str = "hang", raised_s: float = 2.0) -> str:
        was = Episode(
            symptom=symptom, severity="critical", title="It hung", seen_s=1.0, raised_s=raised_s, cleared_s=30.0
        )
        ended = replace(finding("Rank 0 is dead (killed by SIGTERM)"), first_seen_s=30.0)
        watched = derived(12.0, job(rank(is_alive=False), has_ended=has_ended))
        return verdict_of(watched, (ended,), 47.0, episodes=(was,)).text

    assert text(has_ended=True) == "Rank 0 is dead (killed by SIGTERM); before: It hung"
    assert text(has_ended=False) == "Rank 0 is dead (killed by SIGTERM)"
    assert text(has_ended=True, raised_s=31.0) == "Rank 0 is dead (killed by SIGTERM)", "it followed from the end"


@pytest.mark.parametrize("state", ["stalled", "stuck"])
def test_a_step_that_is_overdue(state: RankState) -> None:
    late = rank(0, state=state, step_age_s=75.0, step_time_s=0.25, phase="forward")
    assert verdict(job(late)) == ("info", "No step of rank 0 for 75 s, usually 0.25 s")


@pytest.mark.parametrize(("age_s", "where"), [(9.0, ""), (5.0, ": rank 0 waits in all_reduce (c10d.py:9)")])
def test_a_stack_from_before_the_silence_does_not_say_where_a_rank_is(age_s: float, where: str) -> None:
    late = rank(0, log_age_s=8.0, step_age_s=8.0, log_interval_s=0.3)
    late = structs.replace(late, stack=structs.replace(late.stack, dump=StackDump(pid=1000, at_s=12.0 - age_s)))
    step, wait = (
        frame_of(name, file, line) for name, file, line in (("step", "train.py", 7), ("all_reduce", "c10d.py", 9))
    )
    groups = (stack_group((0,), step, wait),)
    expected = f"Nothing proven wrong in 12 s; no log line for 8 s, usually every 0.3 s{where}"
    assert verdict(job(late, stacks=JobStacks(groups=groups)))[1] == expected


def test_a_job_that_has_ended() -> None:
    assert verdict(job(rank(is_alive=False), has_ended=True)) == ("ended", "The job has ended")
    ranks = (rank(0, is_alive=False, exit_code=0), rank(1, is_alive=False, exit_code=-9))
    assert verdict(job(*ranks, has_ended=True)) == (
        "ended",
        "The job has ended: rank 0 exit code 0, rank 1 exit code -9",
    )


def test_no_rank() -> None:
    assert verdict(job()) == ("unknown", "No training rank found under PID 999")
    script = row(999, ppid=1, role="wrapper", rank=None, command="bash run.sh")
    program = row(1001, role="other", rank=None, command="./bin/train_gpt2 -b 4", rss_bytes=9000)
    helper = row(1002, role="other", rank=None, command="tee run.log", rss_bytes=100)
    assert verdict(job(processes=(script, helper, program))) == (
        "unknown",
        "No training rank found under PID 999: if train_gpt2 trains, name it: hwtop 1001",
    )


@pytest.mark.parametrize(
    ("kinds", "level", "text"),
    [
        (None, "unknown", "Looking for the job"),
        ((), "info", "No training job found: choose a process to watch"),
        (("python",), "info", "No training job found: choose a process to watch"),
        (("training", "other"), "info", "1 training job found: choose a process to watch"),
        (("training", "training"), "info", "2 training jobs found: choose a process to watch"),
    ],
)
def test_without_a_job(kinds: tuple[str, ...] | None, level: str, text: str) -> None:
    candidates = None if kinds is None else tuple(candidate(kind) for kind in kinds)
    assert verdict(None, candidates=candidates) == (level, text)


def test_processes_with_a_training_library_are_named_where_no_launcher_is_seen() -> None:
    candidates = tuple(replace(candidate("python"), framework=name) for name in ("torch", "torch", "jax", None))
    text = "3 processes found with torch, jax loaded: choose a process to watch"
    assert verdict(None, candidates=candidates) == ("info", text)


@pytest.mark.parametrize(
    ("symptom", "stall"),
    [
        ("collective-mismatch", "communication hang"),
        ("rank-missing-from-collective", "non-communication hang"),
        ("straggler-rank", "non-communication slow"),
        ("nvlink-errors", "communication slow"),
        ("loss-nan", None),
    ],
)
def test_the_class_of_the_problem_is_said(symptom: str, stall: str | None) -> None:
    found = verdict_of(derived(12.0, job(rank())), [replace(finding("it is so"), symptom=symptom)], 12.0)

    assert (found.category, found.stall) == ("stability", stall)


def test_one_rank_alone_waits_for_nobody_in_a_collective() -> None:
    assert verdict_of(derived(1.0, job(rank())), [finding("It hangs")], 12.0).stall == "non-communication hang"
    waits = rank(1, phase="collective", is_waiting=True)
    assert verdict_of(derived(1.0, job(rank(), waits)), [finding("It hangs")], 12.0).stall == "communication hang"
    assert verdict_of(derived(1.0, job(rank(), rank(1))), [finding("It hangs")], 12.0).stall == "non-communication hang"


def test_what_is_well_has_no_class() -> None:
    assert verdict_of(derived(12.0, job(rank())), [], 12.0).category is None
