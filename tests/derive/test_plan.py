from __future__ import annotations

from hwtop.derive.plan import plan_of
from hwtop.model.member import Launcher
from hwtop.model.plan import LogTarget, SamplingPlan, UserFocus
from tests.parts import replace
from tests.symptoms.derived_states import cpu, derived, job, rank, row, shares, worker

LOGS = (LogTarget(path="/logs/rank_0.log", pids=(1000,)),)


def test_without_a_job_there_is_nothing_to_look_at() -> None:
    assert plan_of(derived(1.0, None), UserFocus()) is None


def test_ranks_in_order_and_the_logs() -> None:
    watched = job(rank(0), rank(1), log_targets=LOGS)
    assert plan_of(derived(1.0, watched), UserFocus()) == SamplingPlan(
        target_pid=999, stack_pids=(1000, 1001), logs=LOGS
    )


def test_the_focused_rank_is_first_and_named() -> None:
    plan = plan_of(derived(1.0, job(rank(0), rank(1), rank(2))), UserFocus(rank=2))
    assert plan is not None
    assert (plan.stack_pids, plan.focus_pid) == ((1002, 1000, 1001), 1002)


def test_the_dead_are_not_looked_at() -> None:
    plan = plan_of(derived(1.0, job(rank(0), rank(1, is_alive=False))), UserFocus(rank=1))
    assert plan is not None
    assert (plan.stack_pids, plan.focus_pid) == ((1000,), None)


def test_two_workers_of_each_rank_that_waits_for_data() -> None:
    processes = tuple(worker(pid) for pid in (2000, 2001, 2002))
    waits_now = rank(0, phase="data", workers=processes)
    waits_often = rank(1, phase_shares=shares(data=0.1, forward=0.9), workers=(worker(2010),))
    waits_seldom = rank(2, phase_shares=shares(data=0.09, forward=0.91), workers=(worker(2020),))
    plan = plan_of(derived(1.0, job(waits_now, waits_often, waits_seldom)), UserFocus())
    assert plan is not None
    assert plan.stack_pids == (1000, 1001, 1002, 2000, 2001, 2010)


def test_a_launcher_that_has_started_no_rank_is_looked_at() -> None:
    """It waits for other nodes, which only its own stack tells; mpirun is no Python program."""
    for kind, expected in (("torchrun", (900,)), ("accelerate", (900,)), ("mpirun", ())):
        plan = plan_of(derived(1.0, job(launcher=Launcher(pid=900, kind=kind, command=kind))), UserFocus())
        assert plan is not None
        assert plan.stack_pids == expected
    plan = plan_of(
        derived(1.0, job(rank(0), launcher=Launcher(pid=900, kind="torchrun", command="torchrun"))), UserFocus()
    )
    assert plan is not None
    assert plan.stack_pids == (1000,)


def test_where_the_whole_job_sleeps_each_rank_is_to_be_looked_at_once() -> None:
    def reported(*since_s: float | None) -> dict[int, float]:
        ranks = [rank(number, asleep_since_s=each) for number, each in enumerate(since_s)]
        plan = plan_of(derived(20.0, job(*ranks)), UserFocus())
        assert plan is not None
        return plan.asleep_since_s

    assert reported(10.0, 12.0) == {1000: 10.0, 1001: 12.0}
    assert reported(10.0, 17.5) == {}, "one was awake a moment ago"
    assert reported(10.0, None) == {}, "one works"


def test_all_processes_are_scanned_while_others_use_much_of_the_machine() -> None:
    def scans(busy_pct: float, own_pct: float) -> bool:
        watched = replace(job(rank(0)), processes=(row(1000, cpu_pct=own_pct),))
        plan = plan_of(derived(1.0, watched, cpu=cpu(busy_pct), cores=8.0), UserFocus())
        return plan is not None and plan.scans

    assert scans(100.0, 100.0), "seven of eight cores"
    assert not scans(100.0, 800.0), "the job itself"
    assert not scans(10.0, 0.0)
