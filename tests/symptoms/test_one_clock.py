"""All texts that say since when nothing moves agree with the newest step and log line, whatever the ranks are like."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from hwtop.job.hang.liveness import silent_s
from hwtop.job.hang.rank_state import rank_state, settled
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase
from hwtop.model.reported.log import Progress
from hwtop.symptoms.checks import hung
from hwtop.symptoms.hang.hang import check_hang, check_missing
from hwtop.symptoms.verdict import verdict_of
from tests.parts import replace
from tests.symptoms.derived_states import ALL_REDUCE, TRAIN, constant, derived, job, rank, stack_group

_UNMOVED = re.compile(r"(?:nothing has moved|missing from the collective|Stuck) for (\d+) s")
_SILENT = re.compile(r"no log line for (\d+) s")
_NO_STEP = re.compile(r"(?i:no step)(?: of [^:]*?)? for (\d+) s")
_LAST_STEP = re.compile(r"last step (\d+) s ago")
_PHASES: tuple[Phase, ...] = ("collective", "forward", "backward", "data", "other", "eval", "checkpoint", "startup")
_AGES = (None, 0.0, 0.4, 4.0, 11.0, 14.0, 31.0, 75.0, 400.0)


def _rank(number: int, made: random.Random) -> Rank:
    phase = made.choice(_PHASES)
    is_idle = made.random() < 0.7
    fields: dict[str, Any] = {
        "phase": phase,
        "phase_for_s": made.choice((2.0, 35.0, 600.0)),
        "is_waiting": phase == "collective",
        "os_state": "S" if is_idle else "R",
        "cpu_pct": 0.0 if is_idle else 95.0,
        "main_thread_cpu_pct": 0.0 if is_idle else 90.0,
        "step_age_s": made.choice(_AGES),
        "log_age_s": made.choice(_AGES),
        "log_interval_s": made.choice((None, 0.2, 5.0)),
        "step_time_s": made.choice((None, 0.2, 5.0)),
        "progress": made.choice((None, Progress(step=100))),
        "same_stack_for_s": made.choice(_AGES),
        "idle_for_s": made.choice(_AGES[1:]) if is_idle else 0.0,
    }
    return rank(number, **fields)


def _job(seed: int) -> Job:
    made = random.Random(seed)
    ranks = [_rank(number, made) for number in range(made.randint(1, 3))]
    ranks = list(settled([replace(each, state=rank_state(each)) for each in ranks]))
    return job(*ranks, stack_groups=(stack_group(tuple(each.rank for each in ranks), TRAIN, ALL_REDUCE),))


def _headlines(watched: Job) -> list[str]:
    history = constant(watched)
    raised = [seen.title for check in (check_hang, check_missing) if (seen := check(history)) is not None]
    return [verdict_of(derived(12.0, watched), (), 12.0).text, *raised]


def _newest(ages: Sequence[float | None]) -> float:
    return min((age for age in ages if age is not None), default=float("inf"))


@pytest.mark.parametrize("seed", range(0, 3000, 500))
def test_no_text_names_a_longer_silence_than_another(seed: int) -> None:
    claims = 0
    for number in range(seed, seed + 500):
        watched = _job(number)
        result = hung(constant(watched))
        newest_s = _newest([silent_s(each) for each in watched.ranks])
        step_s = _newest([each.progress.step_age_s for each in watched.ranks])
        for text in (*_headlines(watched), result.text):
            unmoved, silent = ([int(found) for found in each.findall(text)] for each in (_UNMOVED, _SILENT))
            late = [int(found) for found in _NO_STEP.findall(text)]
            assert all(found <= newest_s + 0.5 for found in (*unmoved, *silent)), (number, text, newest_s)
            assert all(found + 0.5 >= step_s for found in late), (number, text, step_s)
            assert not (unmoved and result.verdict == "no"), (number, text, result)
            assert all(
                found <= int(each) for found in (*unmoved, *silent) for each in _LAST_STEP.findall(result.text)
            ), number
            claims += len(unmoved) + len(silent) + len(late)
    assert claims >= 50, "the made-up states raise nothing"


def test_a_rank_without_a_known_step_is_not_said_to_have_made_one_just_now() -> None:
    stuck = rank(0, state="stuck", progress=None, step_age_s=None)
    assert hung(constant(job(stuck, rank(1)))).text == "rank 0: no step is known, not yet proven"
    late = rank(0, state="stalled", step_age_s=75.0)
    assert hung(constant(job(late, rank(1)))).text == "rank 0: no step for 75 s, not yet proven"
