"""Nobody is blamed before everything stands still."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.hang.stall import Patience, silence_s
from hwtop.model.gpu.device import Gpu
from hwtop.model.process import SystemCall
from hwtop.model.rank import PastPace
from hwtop.model.reported.log import Progress
from tests.job.hang.standstill import is_standing_still
from tests.job.hang.test_rank_state import dump
from tests.parts import replace
from tests.symptoms.derived_states import rank, still

AT_A_PROMPT = dump(("Cmd.cmdloop", "cmd.py"), ("Pdb.interaction", "pdb.py"), ("train", "train.py"))
LOCKED: dict[str, Any] = {"phase": "other", "is_waiting": False}


def gpu(index: int, util_pct: float) -> Gpu:
    return Gpu(index=index, vendor="nvidia", name="H100", uuid=None, status="ok", util_pct=util_pct)


def test_all_stuck_and_silent() -> None:
    assert is_standing_still([still(0), still(1, **LOCKED)])
    assert not is_standing_still([still(0), rank(1)])
    assert not is_standing_still([])


def test_a_rank_at_a_prompt_stands_still_while_others_wait_for_it() -> None:
    prompt = still(1, **LOCKED, stack=AT_A_PROMPT)
    assert is_standing_still([still(0), prompt])
    assert not is_standing_still([prompt])


def test_the_dead_do_not_count() -> None:
    assert is_standing_still([still(0), rank(1, is_alive=False)])


def test_a_stopped_rank_stands_still() -> None:
    stopped = rank(1, os_state="T", stopped_for_s=10.0, step_age_s=20.0, log_age_s=20.0)
    assert is_standing_still([still(0), stopped])


@pytest.mark.parametrize(
    ("silent_s", "waited_s", "phase", "expected"),
    [
        (70.0, 70.0, "forward", True),  # a search that never ends
        (50.0, 50.0, "forward", False),  # it may take long
        (70.0, 1.0, "forward", False),  # the collective returned a second ago: it is slow
        (5.0, 70.0, "forward", False),  # it reports what it does
        (70.0, 70.0, "eval", False),
    ],
)
def test_a_rank_that_goes_round_and_round_while_the_collective_does_not_return(
    silent_s: float, waited_s: float, phase: str, expected: bool
) -> None:
    told = {"log_age_s": silent_s, "step_age_s": silent_s, "log_interval_s": None, "step_time_s": None}
    waits = still(0, waited_s, asleep_for_s=waited_s, **told)
    assert is_standing_still([waits, rank(1, phase=phase, phase_for_s=silent_s, **told)]) is expected


@pytest.mark.parametrize("phase", ["other", "startup", "logging"])
def test_a_process_that_never_trained_is_no_training_that_hangs(phase: str) -> None:
    idle = still(0, 600.0, phase=phase, is_waiting=False, progress=None, step_age_s=None, phase_shares=())
    assert not is_standing_still([idle])


def test_who_told_an_epoch_trains() -> None:
    assert is_standing_still([still(0, 600.0, **LOCKED, progress=Progress(epoch=3), step_age_s=None)])


@pytest.mark.parametrize("phase", ["data", "collective", "backward"])
def test_a_training_without_a_log_is_known_by_its_phase(phase: str) -> None:
    assert is_standing_still([still(0, 600.0, phase=phase, progress=None, step_age_s=None, log_age_s=None)])


@pytest.mark.parametrize(("seconds", "expected"), [(19.0, False), (20.0, True)])
def test_a_rendezvous_is_no_excuse_when_another_rank_never_comes(seconds: float, expected: bool) -> None:
    joins = still(0, seconds, phase="rendezvous", phase_for_s=seconds, is_waiting=False, progress=None, step_age_s=None)
    never = still(1, seconds, **LOCKED, step_age_s=None)
    assert is_standing_still([joins, never]) is expected


def test_a_rendezvous_that_all_are_in_is_a_start() -> None:
    joins = [still(n, 600.0, phase="rendezvous", phase_for_s=600.0, is_waiting=False) for n in range(2)]
    assert not is_standing_still(joins)


SYNC: dict[str, Any] = {"phase": "sync", "is_waiting": False, "idle_for_s": 0.0, "os_state": "R"}


@pytest.mark.parametrize(
    ("utils", "seconds", "expected"),
    [
        ((100.0, 99.0), 61.0, True),
        ((100.0, 99.0), 50.0, False),
        ((100.0, 0.0), 61.0, True),  # the GPU of one rank has nothing to do
        ((100.0, 60.0), 61.0, False),  # it computes
        ((0.0, 0.0), 61.0, True),  # nor do the GPUs
    ],
)
def test_gpus_that_spin_in_a_collective(utils: tuple[float, float], seconds: float, expected: bool) -> None:
    ranks = [still(n, seconds, **SYNC, gpus=(n,)) for n in range(2)]
    assert is_standing_still(ranks, [gpu(n, util) for n, util in enumerate(utils)]) is expected


def test_silence_is_the_newest_sign_of_life() -> None:
    assert silence_s([still(0, 30.0), still(1, 30.0, log_age_s=12.0)]) == 12.0
    assert silence_s([still(0, 30.0, log_age_s=None, step_age_s=None)]) == 30.0


@pytest.mark.parametrize(
    ("spin_waiting", "seconds", "fields", "expected"),
    [
        ({0, 1}, 10.0, {}, True),
        ({0, 1}, 9.0, {}, False),
        ({0, 1}, 26.0, {"step_time_s": 9.0}, False),  # three steps
        ({0, 1}, 27.0, {"step_time_s": 9.0}, True),
        ({0}, 40.0, {}, False),  # the other one works
    ],
)
def test_a_gpu_that_is_full_and_does_nothing_is_no_long_kernel(
    spin_waiting: set[int], seconds: float, fields: dict[str, Any], expected: bool
) -> None:
    ranks = [still(n, seconds, gpus=(n,), **fields) for n in range(2)]
    patience = Patience(spin_waiting=frozenset(spin_waiting))
    assert is_standing_still(ranks, [gpu(0, 100.0), gpu(1, 100.0)], patience) is expected


def test_patience_can_be_asked_for() -> None:
    ranks = [still(n, 30.0, gpus=(n,)) for n in range(2)]
    assert is_standing_still(ranks)
    assert not is_standing_still(ranks, (), Patience(quiet_s=31.0))
    assert is_standing_still(ranks, [gpu(0, 100.0)], Patience(busy_gpu_s=30.0))


def test_who_has_written_and_is_not_read_hangs_whatever_the_kernel_calls_its_wait() -> None:
    fields = {"progress": None, "phase": "other", "phase_shares": (), "step_time_s": None, "wchan": "0"}
    idle = still(0, 40.0, is_waiting=False, **fields)
    write = SystemCall(name="write", fd=3, target="socket:[165513]", peer_pids=(31906,))
    assert not is_standing_still([idle])
    assert is_standing_still([replace(idle, call=write)])


@pytest.mark.parametrize(("wrote_for_s", "expected"), [(4.0, True), (30.0, False), (None, False)])
def test_few_reports_bound_how_often_they_come(wrote_for_s: float | None, expected: bool) -> None:
    """It polls, and its only reports all came within the first seconds of the job."""
    past = None if wrote_for_s is None else PastPace(steps=20, step_s=wrote_for_s / 20)
    polls = still(
        0,
        60.0,
        phase="other",
        is_waiting=False,
        same_stack_for_s=1.0,
        same_function_for_s=60.0,
        asleep_for_s=0.0,
        log_interval_s=None,
        step_time_s=None,
        past_pace=past,
    )
    assert is_standing_still([polls]) is expected
