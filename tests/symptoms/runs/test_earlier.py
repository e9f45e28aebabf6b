"""An earlier run of the same job is a context: told where it is clear, and never an alarm."""

from __future__ import annotations

import pytest

from hwtop.model.baseline import Baseline
from hwtop.model.process import ProcessInfo
from hwtop.symptoms.checks import slower_than_before
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.runs.earlier import KEPT, earlier_words, job_key, quickest, summary
from tests.parts import replace
from tests.symptoms.derived_states import gpu, job, rank
from tests.symptoms.runs.test_baseline import watched


def remembered(step_s: float, time_s: float = 1e9) -> Baseline:
    found = summary(watched(step_s), "1", 60.0)
    assert found is not None
    return replace(found, saved_time_s=time_s)


def beside(now: History, then: Baseline | None) -> History:
    return History(now.derived_states, then)


def test_only_pace_and_gpus_are_remembered() -> None:
    assert set(remembered(0.3).levels) <= set(KEPT)
    assert summary(History(watched().derived_states[:5]), "1", 5.0) is not None
    few = watched()
    last = few.now
    assert last.job is not None
    short = replace(last.job.metrics.curves[0], points=last.job.metrics.curves[0].points[-12:])
    assert summary(History([replace(last, job=replace(last.job, curves=(short,)))]), "1", 60.0) is None


@pytest.mark.parametrize(
    ("step_s", "verdict", "says"),
    [
        (0.44, "yes", "47 % more"),
        (0.31, "no", "no clear difference"),
        (0.2, "no", "33 % less"),
    ],
)
def test_the_usual_suspects_say_how_it_was(step_s: float, verdict: str, says: str) -> None:
    found = slower_than_before(beside(watched(step_s), remembered(0.3)))
    assert (found.verdict, says in found.text) == (verdict, True), found.text
    assert "0.3 s a step on 2001-09-0" in found.text


def test_nothing_is_said_where_nothing_is_remembered() -> None:
    assert earlier_words(watched()) is None
    assert "by the same command" not in slower_than_before(watched()).text


def test_what_the_gpus_did_then_is_told_where_it_differs() -> None:
    slow = beside(watched(0.6, util_pct=40.0, power_w=300.0), remembered(0.3))
    words = earlier_words(slow)
    assert words is not None
    assert words.endswith("GPU utilization 98 then, 40 % now; GPU power 640 then, 300 W now")


def test_a_slower_run_than_ever_raises_no_alarm() -> None:
    slow = beside(watched(3.0), remembered(0.3))
    judge = Judge()
    judge.advance(slow, 50.0)
    later = [replace(derived, at_s=derived.at_s + 100.0) for derived in slow.derived_states]
    found = judge.advance(History(later, slow.earlier), 150.0)
    assert [each.symptom for each in found if each.severity != "info"] == []


def test_the_quickest_of_the_kept_runs_counts() -> None:
    runs = [remembered(0.4, 1.0), remembered(0.3, 2.0), remembered(0.5, 3.0)]
    best = quickest(runs)
    assert best is not None
    assert best.saved_time_s == 2.0
    assert quickest([]) is None


def process(**fields: object) -> ProcessInfo:
    known: dict[str, object] = {
        "pid": 1000,
        "ppid": 1,
        "comm": "python",
        "state": "R",
        "start_ticks": 5,
        "user_ticks": 0,
        "system_ticks": 0,
        "thread_count": 1,
        "cmdline": ("python", "train.py", "--batch", "32"),
        "cwd": "/home/me/run",
    }
    return ProcessInfo(**(known | fields))  # type: ignore[arg-type]


def test_only_the_same_command_in_the_same_folder_with_as_many_ranks_is_the_same_job() -> None:
    from tests.symptoms.derived_states import constant

    seen = constant(job(rank(0, gpus=(0,)), rank(1, gpus=(1,))), gpus=(gpu(0), gpu(1)))
    own = job_key(seen, [process()])
    assert own is not None
    assert len(own) == 32
    assert "train" not in own
    assert own == job_key(seen, [process(start_ticks=9)])
    others = [
        job_key(seen, [process(cmdline=("python", "train.py", "--batch", "64"))]),
        job_key(seen, [process(cwd="/home/me/other")]),
        job_key(constant(job(rank(0, gpus=(0,))), gpus=(gpu(0),)), [process()]),
        job_key(constant(job(rank(0, gpus=(0,)), rank(1, gpus=(1,))), gpus=(gpu(0, name="A100"),)), [process()]),
    ]
    assert None not in others
    assert len({own, *others}) == 5
    assert job_key(seen, []) is None
    assert job_key(seen, [process(cmdline=None)]) is None
