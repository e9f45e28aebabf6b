"""Rarely while all is well, closely once something is unusual, and not for ever."""

from __future__ import annotations

from hwtop.derive.plan import plan_of
from hwtop.feed.vigil import CLOSE, RARE, Attention
from hwtop.job.hang.liveness import SUSPECT
from hwtop.model.frame import Frame
from hwtop.model.liveness import Liveness
from hwtop.model.plan import UserFocus
from tests import frames
from tests.parts import replace


def at(seconds: float, *, phi: float = 0.0, is_alive: bool = True) -> Frame:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    odd = replace(job.ranks[0], liveness=Liveness(state="slow", phi=phi), is_alive=is_alive)
    changed = replace(job, ranks=(odd, *job.ranks[1:]))
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


def test_what_stacks_may_cost_reaches_their_source() -> None:
    plan = plan_of(frames.healthy().derived, UserFocus(stack_budget_pct=RARE.stack_budget_pct))
    assert plan is not None and plan.stack_budget_pct == RARE.stack_budget_pct
