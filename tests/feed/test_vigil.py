"""Rarely while all is well, closely once something is unusual, and not for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from hwtop.derive.plan import plan_of
from hwtop.feed.live import LiveSource
from hwtop.feed.vigil import CLOSE, RARE, Attention, _hurry_at_the_end
from hwtop.job.hang.liveness import SUSPECT
from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.frame import Frame
from hwtop.model.liveness import Liveness
from hwtop.model.plan import UserFocus
from tests import frames
from tests.parts import replace


def at(seconds: float, *, phi: float = 0.0, is_alive: bool = True, silent_s: float = 0.1) -> Frame:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    ranks = [replace(rank, log_age_s=silent_s, step_age_s=silent_s, log_interval_s=0.3) for rank in job.ranks]
    ranks[0] = replace(ranks[0], liveness=Liveness(state="slow", phi=phi), is_alive=is_alive)
    changed = replace(job, ranks=tuple(ranks))
    return replace(frame, watched_s=seconds, derived=replace(frame.derived, job=changed))


def test_the_first_look_is_close_and_then_all_is_well() -> None:
    attention = Attention()
    assert [attention.pace(at(seconds)) for seconds in (1.0, 19.0, 21.0)] == [CLOSE, CLOSE, RARE]


def test_what_is_unusual_is_looked_at_closely_but_not_for_ever() -> None:
    attention = Attention()
    assert attention.pace(at(100.0, phi=SUSPECT)) == CLOSE
    assert attention.pace(at(150.0, phi=SUSPECT)) == CLOSE
    assert attention.pace(at(161.0, phi=SUSPECT)) == RARE
    assert attention.pace(at(170.0)) == RARE
    assert attention.pace(at(180.0, phi=SUSPECT)) == CLOSE


def test_a_rank_that_is_gone_is_looked_at_closely() -> None:
    assert Attention().pace(at(100.0, is_alive=False)) == CLOSE


def test_silence_is_looked_at_closely_unless_the_job_went_on_after_as_long_a_one() -> None:
    attention = Attention()
    assert attention.pace(at(100.0)) == RARE
    assert attention.pace(at(110.0, silent_s=8.0)) == CLOSE
    assert attention.pace(at(120.0)) == RARE
    assert attention.pace(at(130.0, silent_s=7.0)) == RARE
    assert attention.pace(at(140.0, silent_s=9.0)) == CLOSE


def test_slower_steps_are_looked_at_closely() -> None:
    def stepping(seconds: float, *times: float) -> Frame:
        frame = at(seconds)
        job = frame.derived.job
        assert job is not None
        points = tuple(CurvePoint(step=step, at_s=seconds, value=value) for step, value in enumerate(times))
        curve = Curve(name="step_time_s", source="train.log", points=points)
        changed = replace(job, metrics=replace(job.metrics, curves=(curve,)))
        return replace(frame, derived=replace(frame.derived, job=changed))

    usual = [0.1] * 20
    assert Attention().pace(stepping(100.0, *usual, 0.3)) == RARE, "one step, as of an evaluation"
    assert Attention().pace(stepping(100.0, *usual, 0.12, 0.12, 0.12)) == RARE
    assert Attention().pace(stepping(100.0, *usual, 0.3, 0.3, 0.3)) == CLOSE


def test_what_stacks_may_cost_reaches_their_source() -> None:
    plan = plan_of(frames.healthy().derived, UserFocus(stack_budget_pct=RARE.stack_budget_pct))
    assert plan is not None and plan.stack_budget_pct == RARE.stack_budget_pct


def test_the_end_of_the_process_is_not_slept_through() -> None:
    class Source(LiveSource):
        def __init__(self) -> None:
            self.hurried: float | None = None

        @property
        def interval_s(self) -> float:
            return RARE.interval_s

        @interval_s.setter
        def interval_s(self, seconds: float) -> None:
            self.hurried = seconds

    source = Source()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        waiting = threading.Thread(target=_hurry_at_the_end, args=(process.pid, source, 60.0))
        waiting.start()
        assert source.hurried is None
        process.communicate(b"\n")
        waiting.join()
    assert source.hurried == CLOSE.interval_s


def test_the_end_is_not_awaited_for_longer_than_asked_for() -> None:
    source = LiveSource(target_pid=os.getpid(), interval_s=RARE.interval_s)
    _hurry_at_the_end(os.getpid(), source, 0.01)
    assert source.interval_s == RARE.interval_s
    source.close()
