"""Cards that a line of a log raises."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.host.disk import MountReading
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Observation
from hwtop.symptoms.rules import RULES
from tests.symptoms.derived_states import constant, derived, event, gpu, job, rank

KILLED = "Rank 1 (python, PID 1001) was killed by the kernel: memory cgroup /slurm/job_1 is full at 64 GB"


def test_the_kernels_own_sentence_is_the_title() -> None:
    kill = event("host-oom-kill", path="kernel log", line_no=None, rank=1, title=KILLED)
    seen = check_pattern("host-oom-kill", constant(job(rank(0), rank(1), events=(kill,))))
    assert seen is not None
    assert (seen.title, seen.ranks) == (KILLED, (1,))


def test_a_line_of_the_jobs_log_goes_under_the_symptoms_title() -> None:
    reported = event("cuda-oom", rank=1, title="as one of many patterns calls it")
    seen = check_pattern("cuda-oom", constant(job(rank(0), rank(1), events=(reported, reported))))
    assert seen is not None
    assert seen.title == "CUDA out of memory on rank 1 (2 lines)"


def test_no_rank_trains_on_after_a_crash_in_native_code() -> None:
    """So a line about one is a text, where the rank does: a language model's sample, an example in a help page."""
    reported = event("segfault", "root", at_s=5.0)
    alive, gone = rank(0, step_reported_at_s=9.0), rank(1, is_alive=False)
    in_time = rank(0, step_reported_at_s=4.0)
    assert check_pattern("segfault", constant(job(in_time, events=(reported,)))) is not None
    assert check_pattern("segfault", constant(job(alive, events=(reported,)))) is None
    assert check_pattern("segfault", constant(job(alive, gone, events=(reported,)))) is not None


@pytest.mark.parametrize(
    ("interval_s", "since_s", "severity"),
    [
        (None, 5.0, "info"),
        (None, 7.0, "critical"),
        (2.5, 4.0, "info"),
        (2.5, 6.0, "critical"),
        (0.1, 1.0, "info"),
        (0.1, 2.5, "critical"),
        (30.0, 11.0, "info"),
        (30.0, 13.0, "critical"),
    ],
)
def test_an_exception_of_a_rank_that_lives_may_have_been_caught(
    interval_s: float | None, since_s: float, severity: str
) -> None:
    """Who retries a download logs the traceback and goes on; steps that come late tell it."""
    reported = event("rank-crash", rank=0, at_s=20.0, lines=12)

    def seen(**fields: Any) -> Observation | None:
        watched = job(rank(0, log_interval_s=interval_s, **fields), events=(reported,))
        return check_pattern("rank-crash", History([derived(20.0 + since_s, watched)]))

    alive, ended = seen(), seen(is_alive=False)
    assert alive is not None
    assert ended is not None
    assert (alive.severity, ended.severity) == (severity, "critical")
    assert seen(step_reported_at_s=21.0) is None


def test_a_crash_that_was_none_is_cleared_soon() -> None:
    rule = next(rule for rule in RULES if rule.symptom == "rank-crash")
    assert rule.clear_s <= 3.0


MENTION = "Tip: with CUDA out of memory, or ENOSPC: No space left on device, use a smaller batch"


def found(symptom: str, *ranks: Rank, now_s: float = 8.0, gpus: int = 0, **fields: Any) -> Observation:
    known: dict[str, Any] = {"text": MENTION, "at_s": 5.0}
    reported = event(symptom, **(known | fields))
    seen = check_pattern(
        symptom, History([derived(now_s, job(*ranks, events=(reported,)), gpus=tuple(map(gpu, range(gpus))))])
    )
    assert seen is not None
    return seen


@pytest.mark.parametrize("symptom", ["cuda-oom", "nccl-error", "disk-full", "host-oom-kill", "too-many-open-files"])
def test_a_sentence_that_only_mentions_an_error_is_a_note_while_the_job_trains_on(symptom: str) -> None:
    seen = found(symptom, rank(0, step_reported_at_s=7.0), rank(1, step_reported_at_s=7.0))
    assert (seen.severity, seen.confidence) == ("info", 0.3)
    assert seen.title.startswith("Only a line says: ")


@pytest.mark.parametrize(
    ("symptom", "fields", "gpus", "severity", "why"),
    [
        ("disk-full", {"lines": 12}, 0, "critical", "12 lines that belong together"),
        (
            "disk-full",
            {"text": f"ERROR:root:{MENTION}", "level": "error"},
            0,
            "critical",
            "its logger calls it an error",
        ),
        (
            "disk-full",
            {"text": f"WARNING:root:{MENTION}", "level": "warning"},
            0,
            "warning",
            "its logger calls it a warning",
        ),
        ("ecc-error", {}, 1, "critical", "the job has such a device"),
        ("ecc-error", {}, 0, "info", "nothing else shows it"),
        ("ecc-error", {"text": "[ 12.3] NVRM: Xid (PCI:0000:07:00): 94"}, 0, "critical", "the driver itself"),
        ("cuda-oom", {"lines": 12}, 1, "warning", "and the training goes on"),
        ("cuda-oom", {}, 1, "info", "nothing else shows it"),
        # A download that was tried again and worked.
        ("hub-network", {"severity": "warning", "level": "error"}, 0, "info", "nothing else shows it"),
        ("host-oom-kill", {"path": "kernel log"}, 0, "critical", "the kernel itself reports it"),
    ],
)
def test_a_second_witness_makes_it_critical(
    symptom: str, fields: dict[str, Any], gpus: int, severity: str, why: str
) -> None:
    seen = found(symptom, rank(0, step_reported_at_s=7.0), gpus=gpus, **fields)
    assert (seen.severity, why in seen.evidence[-1]) == (severity, True), seen.evidence


def test_training_that_stopped_and_a_process_that_failed_are_witnesses() -> None:
    still_rank = rank(0, step_reported_at_s=4.0, log_interval_s=1.0)
    assert found("cuda-oom", still_rank, now_s=8.0).severity == "critical"
    assert found("cuda-oom", still_rank, now_s=6.0).severity == "info"
    lives = rank(0, step_reported_at_s=7.0)
    assert found("cuda-oom", lives, rank(1, is_alive=False, exit_code=1)).severity == "critical"
    assert found("cuda-oom", lives, rank(1, is_alive=False, exit_code=0)).severity == "info"


def test_the_report_of_an_earlier_job_needs_an_end_in_this_one() -> None:
    """A file that a script printed into for hours holds a job's SIGKILL; the next job runs, or hangs for reasons of its own."""
    stuck = rank(0, state="stuck", step_reported_at_s=None)
    report: dict[str, Any] = {"role": "confirmation", "is_past": True, "lines": 6, "writer": "unknown"}
    seen = found("rank-crash", stuck, rank(1), **report)
    assert (seen.severity, "an earlier job's" in seen.evidence[-1]) == ("info", True)
    assert found("rank-crash", stuck, rank(1), **(report | {"writer": "job"})).severity == "critical"
    assert found("disk-full", stuck, **(report | {"severity": "warning"})).severity == "info"


def test_what_comes_again_and_again_is_no_mention() -> None:
    """Three different lines, unless they say that a rank is held or gone, and it trains on: a language model writes of errors."""

    def repeated(symptom: str, times: int) -> str:
        lines = [event(symptom, text=f"{MENTION} {number}", at_s=5.0 + number) for number in range(times)]
        watched = job(rank(0, step_reported_at_s=9.0), events=tuple(lines))
        seen = check_pattern(symptom, History([derived(9.5, watched)]))
        return seen.severity if seen is not None else ""

    assert [repeated("disk-full", times) for times in (1, 2, 3)] == ["info", "info", "critical"]
    assert [repeated("cuda-oom", times) for times in (2, 8)] == ["info", "info"]


@pytest.mark.parametrize(
    ("left_bytes", "symptom"), [(500_000_000, "disk-full"), (50_000_000_000, "checkpoint-error"), (None, "disk-full")]
)
def test_a_file_that_was_cut_shows_a_full_disk_only_where_one_may_be_full(left_bytes: int | None, symptom: str) -> None:
    mount = MountReading(mount_point="/", device="/dev/vda", fs_type="ext4", available_bytes=left_bytes)
    cut = event("disk-full", groups={"partial": "unexpected pos 490176 vs 490068"}, level="error", at_s=5.0)
    history = History([derived(8.0, job(rank(0), events=(cut,)), mounts=(mount,))])
    found = [each for each in ("disk-full", "checkpoint-error") if check_pattern(each, history) is not None]
    assert found == [symptom]


def test_the_title_of_a_crash_is_the_exception() -> None:
    groups = {"exception": "builtins.KeyError", "message": "'image_size'", "at": "/home/a/train.py:18 in load_meta"}
    crash = event("rank-crash", rank=1, groups=groups)
    seen = check_pattern("rank-crash", constant(job(rank(0), rank(1), events=(crash, crash))))
    assert seen is not None
    assert seen.title == "Rank 1 has crashed: KeyError: 'image_size' (train.py:18 in load_meta)"
    bare = check_pattern("rank-crash", constant(job(rank(0), events=(event("rank-crash", groups={"exception": "E"}),))))
    assert bare is not None
    assert bare.title.startswith("Rank 0 has crashed: E") or bare.title.startswith("A rank has crashed: E")
