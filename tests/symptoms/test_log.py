"""Cards that a line of a log raises."""

from __future__ import annotations

from hwtop.symptoms.log import check_pattern
from tests.symptoms.moments import constant, event, job, rank

KILLED = "Rank 1 (python, PID 1001) was killed by the kernel: memory cgroup /slurm/job_1 is full at 64 GB"


def test_the_kernels_own_sentence_is_the_title() -> None:
    kill = event("host-oom-kill", path="kernel log", line_no=None, rank=1, title=KILLED)
    seen = check_pattern("host-oom-kill", constant(job(rank(0), rank(1), events=(kill,))))
    assert seen is not None
    assert (seen.title, seen.ranks) == (KILLED, (1,))


def test_a_line_of_the_jobs_log_goes_under_the_symptoms_title() -> None:
    told = event("cuda-oom", rank=1, title="as one of many patterns calls it")
    seen = check_pattern("cuda-oom", constant(job(rank(0), rank(1), events=(told, told))))
    assert seen is not None
    assert seen.title == "CUDA out of memory on rank 1 (2 lines)"


def test_no_rank_trains_on_after_a_crash_in_native_code() -> None:
    """So a line about one is a text, where the rank does: a language model's sample, an example in a help page."""
    told = event("segfault", "root", at_s=5.0)
    alive, gone = rank(0, step_told_at_s=9.0), rank(1, is_alive=False)
    assert check_pattern("segfault", constant(job(rank(0, step_told_at_s=4.0), events=(told,)))) is not None
    assert check_pattern("segfault", constant(job(alive, events=(told,)))) is None
    assert check_pattern("segfault", constant(job(alive, gone, events=(told,)))) is not None
