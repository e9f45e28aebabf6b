"""Is it stuck, what state is it in, and who waits for whom."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.hang.liveness import is_idle_loop, is_improbable
from hwtop.job.hang.rank_state import is_stuck, rank_state, settled, share_of, slowest
from hwtop.model.hang import BlockedThread
from hwtop.model.rank_stack import PhaseInterval
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from tests.parts import replace
from tests.symptoms.derived_states import rank, shares, still


def blocked(seconds: float = 10.0, *, is_worker: bool = False, is_main: bool = True) -> BlockedThread:
    return BlockedThread(pid=1000, comm="python", is_worker=is_worker, is_main=is_main, for_s=seconds, wchan="rpc_wait")


def saved(seconds: float) -> PhaseInterval:
    end_s = 100.0 + seconds
    return PhaseInterval(phase="checkpoint", from_s=100.0, to_s=end_s, looks=3, looks_before=9, over_by_s=end_s)


SAVES: dict[str, Any] = {"phase": "checkpoint", "is_waiting": False}


@pytest.mark.parametrize(
    ("fields", "is_it"),
    [
        ({}, True),
        ({"step_age_s": 9.9}, False),  # a step was told: it moves
        ({"step_age_s": None}, True),  # a log that tells no steps proves nothing
        ({"is_alive": False}, False),
        ({"phase": None}, True),  # no stack, and neither CPU time nor a report
        ({"phase": None, "idle_for_s": 0.0}, False),
        ({"phase": None, "progress": None, "phase_shares": ()}, False),  # it never trained: a server that nobody asks
        ({"phase": "rendezvous"}, False),
        ({"phase": "compile"}, False),
        ({"phase": "startup"}, False),
        ({"phase": "eval", "is_waiting": False}, False),  # may take as long as it likes
        (SAVES, False),
        ({"same_stack_for_s": 9.9}, False),
        ({"same_stack_for_s": None}, False),
        ({"idle_for_s": 0.0}, True),  # spins in a collective
        ({"idle_for_s": 0.0, "phase": "sync"}, True),
        ({"idle_for_s": 0.0, "is_waiting": False}, False),
        ({"idle_for_s": 0.0, "phase": "forward"}, False),  # one long computation
        ({"phase": "forward"}, True),  # asleep in its own code: a lock
        ({"phase": "data"}, True),
        (SAVES | {"phase_for_s": 20.0, "blocked": blocked()}, True),  # in D state nothing is allowed for
        ({"phase": "eval", "blocked": blocked(9.9)}, False),
        ({"phase": "eval", "blocked": blocked(is_worker=True)}, False),
        ({"phase": "eval", "blocked": blocked(is_main=False)}, False),
        ({"phase": None, "same_stack_for_s": None, "blocked": blocked()}, True),  # no stack can be had of it
    ],
)
def test_is_stuck(fields: dict[str, Any], is_it: bool) -> None:
    assert is_stuck(still(0, 10.0, **fields)) is is_it


@pytest.mark.parametrize(
    ("seconds", "fields", "is_it"),
    [
        (20.0, {}, True),  # a save that does nothing at all
        (19.0, {}, False),
        (20.0, {"phase": "startup"}, True),
        (20.0, {"phase": "eval"}, True),
        (20.0, {"idle_for_s": 0.0}, False),  # it writes
        (40.0, {"phase_for_s": 44.0, "intervals": (saved(15.0),)}, False),  # usually it takes as long
        (46.0, {"phase_for_s": 46.0, "intervals": (saved(15.0),)}, True),
    ],
)
def test_each_phase_has_its_rhythm_and_none_is_exempt(seconds: float, fields: dict[str, Any], is_it: bool) -> None:
    assert is_stuck(still(0, seconds, **SAVES | fields)) is is_it


def test_standing_still_is_a_fact_whatever_the_rank_may_take() -> None:
    assert is_improbable(still(0, 20.0, phase="eval", is_waiting=False))
    assert not is_improbable(still(0, 19.0, phase="eval", is_waiting=False))


def dump(*frames: tuple[str, str]) -> StackDump:
    """(function, short file name), leaf first; train.py is the user's."""
    made = tuple(
        StackFrame(
            name=name,
            filename=("/home/me/" if file == "train.py" else "/opt/lib/python3.11/") + file,
            short_filename=file,
            line=7,
        )
        for name, file in frames
    )
    thread = ThreadStack(name="MainThread", os_thread_id=1, is_active=False, owns_gil=False, frames=made)
    return StackDump(pid=1000, at_s=1.0, threads=(thread,))


LOOP = (
    ("EpollSelector.select", "selectors.py"),
    ("BaseEventLoop._run_once", "asyncio/base_events.py"),
    ("BaseEventLoop.run_forever", "asyncio/base_events.py"),
)
NOTEBOOK = (*LOOP, ("start", "site-packages/tornado/platform/asyncio.py"))
OWN_LOOP = (*LOOP, ("run", "asyncio/runners.py"), ("<module>", "train.py"))
AT_A_PROMPT = (("Cmd.cmdloop", "cmd.py"), ("Pdb.interaction", "pdb.py"), ("train", "train.py"))


@pytest.mark.parametrize(
    "frames",
    [
        (*NOTEBOOK, ("<module>", "site-packages/ipykernel_launcher.py")),
        (*LOOP, ("run", "asyncio/runners.py"), ("run", "site-packages/uvicorn/main.py"), ("<module>", "train.py")),
        AT_A_PROMPT,
    ],
)
def test_who_waits_for_a_person_or_a_request_is_not_stuck(frames: tuple[tuple[str, str], ...]) -> None:
    idle = still(0, 60.0, phase="other", is_waiting=False, stack=dump(*frames))
    assert is_idle_loop(idle)
    assert not is_stuck(idle)
    assert rank_state(idle) == "unknown"


def test_a_coroutine_that_waits_for_another_is_stuck() -> None:
    waits = still(0, 60.0, phase="other", is_waiting=False, stack=dump(*OWN_LOOP))
    assert is_stuck(waits)
    assert not is_stuck(replace(waits, progress=None))  # a server of its own, which never told a step
    assert not is_stuck(replace(waits, log_interval_s=25.0))  # it trains when a request comes
    assert is_stuck(replace(waits, log_interval_s=None))
    assert not is_stuck(replace(waits, log_interval_s=None, step_age_s=59.0))


def test_a_wait_for_loader_workers_is_no_event_loop() -> None:
    frames = (("PollSelector.select", "selectors.py"), ("_try_get_data", "torch/utils/data/dataloader.py"))
    waits = still(0, 60.0, phase="data", is_waiting=False, stack=dump(*frames, ("main", "train.py")))
    assert not is_idle_loop(waits)
    assert is_stuck(waits)


def test_a_cell_that_hangs_is_stuck() -> None:
    cell = still(0, 60.0, phase="other", is_waiting=False, stack=dump(("fetch", "train.py"), *NOTEBOOK))
    assert not is_idle_loop(cell)
    assert is_stuck(cell)


SILENT: dict[str, Any] = {"step_age_s": None, "log_age_s": None}
STILL = {
    "log_age_s": 10.0,
    "phase": "data",
    "same_stack_for_s": 10.0,
    "idle_for_s": 10.0,
    "step_age_s": 10.0,
    "phase_shares": shares(data=1.0),
}


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "training"),
        ({"is_alive": False, "os_state": "T"}, "dead"),
        ({"os_state": "T"}, "stopped"),
        ({"os_state": "t"}, "stopped"),
        ({"phase": None}, "training"),
        ({"phase": None, "progress": None}, "unknown"),
        ({"phase": None, "progress": Progress(loss=2.0)}, "unknown"),
        ({"phase": "startup"}, "starting"),  # its steps may be those of the attempt before
        ({"phase": "startup", "step_reported_at_s": 990.0}, "training"),
        ({"phase": "rendezvous"}, "starting"),
        ({"phase": "compile", "phase_for_s": 1799.0, "step_time_s": None}, "starting"),
        ({"phase": "compile"}, "training"),
        ({"phase": "compile", "phase_for_s": 1800.0} | SILENT, "stalled"),
        ({"phase": "checkpoint"}, "checkpoint"),
        ({"phase": "checkpoint", "phase_for_s": 1800.0} | SILENT, "stalled"),
        ({"phase": "eval"}, "eval"),
        ({"phase": "eval", "step_age_s": 1799.0, "log_age_s": 1799.0}, "eval"),
        ({"phase_shares": shares(data=0.3, data_main=0.2, forward=0.5)}, "data-wait"),
        ({"phase_shares": shares(data=0.49, forward=0.51)}, "training"),
        ({"phase": "data", "phase_shares": shares(forward=1.0)}, "training"),  # one look is not the rule
        ({"wait_share": 0.5}, "collective-wait"),
        ({"wait_share": 0.49}, "training"),
        ({"wait_share": None}, "training"),
        ({"phase_shares": shares(data=0.6, collective=0.4), "wait_share": 0.6}, "data-wait"),
        ({"step_age_s": 59.0}, "training"),
        ({"step_age_s": 60.0, "log_age_s": 60.0}, "stalled"),
        ({"step_age_s": 60.0}, "training"),  # it reports something else
        ({"progress": Progress(step=9, step_time_s=0.41)}, "slow"),
        ({"progress": Progress(step=9, step_time_s=0.4)}, "training"),
        (STILL, "stuck"),
        (STILL | {"phase": "checkpoint", "phase_for_s": 20.0}, "checkpoint"),
        (STILL | {"phase": "checkpoint", "same_stack_for_s": 20.0, "idle_for_s": 20.0} | SILENT, "stuck"),
        (STILL | {"os_state": "T"}, "stopped"),
    ],
)
def test_rank_state(fields: dict[str, Any], state: str) -> None:
    assert rank_state(rank(0, **fields)) == state


def test_share_of_adds_phases() -> None:
    watched = rank(0, phase_shares=shares(data=0.3, data_main=0.2, forward=0.5))
    assert share_of(watched, "data", "data-main") == pytest.approx(0.5)
    assert share_of(watched, "eval") == 0


def states(*ranks: Any) -> list[str]:
    return [each.state for each in settled(ranks)]


def test_who_waits_for_a_rank_that_works_is_not_stuck() -> None:
    assert states(still(0), still(1), rank(2, wait_share=0.5)) == ["collective-wait", "collective-wait", "training"]
    assert states(still(0, state="stalled"), rank(1, state="eval")) == ["collective-wait", "eval"]


def test_who_is_still_without_waiting_is_stuck_whatever_the_others_do() -> None:
    assert states(still(0, is_waiting=False, phase="other"), rank(1, wait_share=0.5)) == ["stuck", "training"]


def test_all_are_stuck_when_nobody_works() -> None:
    assert states(still(0), still(1)) == ["stuck", "stuck"]
    assert states(still(0), rank(1, state="stopped", os_state="T")) == ["stuck", "stopped"]
    assert states(still(0), rank(1, state="dead", is_alive=False)) == ["stuck", "dead"]


@pytest.mark.parametrize(
    ("waits", "slow"),
    [
        ((0.8, 0.28, 0.7), 1),
        ((0.8, 0.33, 0.8), None),  # more than 40 % of what the others wait
        ((0.29, 0.0, 0.29), None),  # the others hardly wait
    ],
)
def test_the_rank_that_waits_least_is_slow(waits: tuple[float, ...], slow: int | None) -> None:
    ranks = [rank(number, wait_share=share) for number, share in enumerate(waits)]
    found = slowest(ranks)
    assert (None if found is None else found.rank) == slow
    assert [each.rank for each in settled(ranks) if each.state == "slow"] == ([] if slow is None else [slow])


def test_nobody_is_slow_alone_or_without_samples() -> None:
    assert slowest([rank(0, wait_share=0.0)]) is None
    assert slowest([rank(0, wait_share=0.0), rank(1, wait_share=0.9, samples=7)]) is None
    assert slowest([rank(0, wait_share=0.0), rank(1, wait_share=None)]) is None


def test_a_rank_that_computes_for_ever_is_stuck_when_the_others_wait_for_it() -> None:
    loops = {"phase": "other", "is_waiting": False, "idle_for_s": 0.0, "os_state": "R", "wait_share": 0.0}
    assert states(still(0, 30.0), still(1, 30.0, **loops, state="training")) == ["stuck", "stuck"]
    assert states(still(0, 30.0), still(1, 15.0, **loops, state="training")) == ["collective-wait", "slow"]


def test_a_rank_that_is_alone_trains_while_it_waits_for_its_device() -> None:
    syncs = rank(samples=60, phase="sync", phase_shares=shares(sync=0.9, other=0.1), wait_share=0.9)
    waits = rank(samples=60, phase="backward", phase_shares=shares(backward=1.0), wait_share=0.9)
    assert settled([replace(syncs, state=rank_state(syncs))])[0].state == "training"
    assert settled([replace(waits, state=rank_state(waits))])[0].state == "collective-wait"
