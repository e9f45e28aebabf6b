"""One root for each hang: every branch of the tree, and what comes first where several fit."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.hang.tree import HangCause, hang_cause
from hwtop.model.gpu.device import Gpu
from hwtop.model.hang import BlockedThread
from hwtop.model.job import Job
from hwtop.model.reported.flight import FlightVerdict
from hwtop.model.reported.ras import RasKind, RasVerdict
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from tests.parts import replace
from tests.symptoms.derived_states import ALL_REDUCE, BARRIER, SAVE, TRAIN, event, job, rank, stack_group, still, worker

OUTSIDE: dict[str, Any] = {"phase": "other", "is_waiting": False}
TOGETHER = (stack_group((0, 1, 2), TRAIN, ALL_REDUCE),)
APART = (stack_group((0, 2), TRAIN, ALL_REDUCE), stack_group((1,), TRAIN, phase="other"))


def cause_of(watched: Job, gpus: tuple[Gpu, ...] = ()) -> HangCause:
    found = hang_cause(watched, gpus)
    assert found is not None
    return found


def blocked(**fields: Any) -> BlockedThread:
    known: dict[str, Any] = {
        "pid": 1001,
        "comm": "python",
        "is_worker": False,
        "is_main": True,
        "for_s": 20.0,
        "wchan": "rpc_wait_bit",
    }
    return BlockedThread(**(known | fields))


def locked_stack() -> StackDump:
    frame = StackFrame(
        name="Cache.put",
        filename="/home/me/train.py",
        short_filename="train.py",
        line=40,
        code="with self._lock:",
        holds=("self._lock",),
    )
    thread = ThreadStack(name="MainThread", os_thread_id=1, is_active=False, owns_gil=False, frames=(frame,))
    return StackDump(pid=1001, at_s=1.0, threads=(thread,))


def flight(kind: str, **fields: Any) -> FlightVerdict:
    known: dict[str, Any] = {
        "kind": kind,
        "group": "0",
        "sequence": 1580,
        "operation": "all_reduce",
        "culprits": (2,),
        "waiting": (0, 1),
        "text": "the recorder says so",
        "evidence": (),
        "ranks_seen": (0, 1, 2),
    }
    return FlightVerdict(**(known | fields))


ALL_WAIT = job(still(0), still(1), still(2), stack_groups=TOGETHER)
ONE_OUT = job(still(0), still(1, **OUTSIDE), still(2), stack_groups=APART)


def with_rank(watched: Job, number: int, **fields: Any) -> Job:
    ranks = tuple(replace(each, **fields) if each.rank == number else each for each in watched.ranks)
    return replace(watched, ranks=ranks)


@pytest.mark.parametrize(
    ("watched", "kind", "culprits"),
    [
        (with_rank(ALL_WAIT, 1, is_alive=False), "dead", (1,)),
        (replace(ALL_WAIT, events=(event("xid", rank=2),)), "event", (2,)),
        (replace(ALL_WAIT, events=(event("xid", is_past=True),)), "transport", ()),
        (replace(ALL_WAIT, events=(event("filesystem-hang", "context"),)), "transport", ()),
        (with_rank(ONE_OUT, 1, os_state="T"), "stopped", (1,)),
        (with_rank(ONE_OUT, 1, blocked=blocked()), "storage", (1,)),
        (with_rank(ONE_OUT, 1, blocked=blocked(for_s=9.0)), "missing", (1,)),
        (with_rank(ONE_OUT, 0, blocked=blocked(pid=1000)), "missing", (1,)),  # who waits may sleep in a driver
        (with_rank(ONE_OUT, 1, stack=locked_stack()), "lock", (1,)),
        (with_rank(ONE_OUT, 1, phase="data", workers=(worker(state="S"),)), "data-worker", (1,)),
        (with_rank(ONE_OUT, 1, phase="data"), "missing", (1,)),
        (ONE_OUT, "missing", (1,)),
        (ALL_WAIT, "transport", ()),
        (replace(ALL_WAIT, world_size=8), "elsewhere", ()),
        (job(still(0, **OUTSIDE), still(1, **OUTSIDE)), "unknown", ()),
        (job(still(0, **OUTSIDE)), "unknown", ()),
    ],
)
def test_each_branch(watched: Job, kind: str, culprits: tuple[int, ...]) -> None:
    found = cause_of(watched)
    assert (found.kind, found.culprits) == (kind, culprits)
    assert found.why
    assert set(found.culprits).isdisjoint(found.waiting)


@pytest.mark.parametrize(
    ("groups", "culprits"),
    [
        ((stack_group((0, 1), TRAIN, ALL_REDUCE), stack_group((2,), SAVE, BARRIER)), (2,)),
        ((stack_group((0,), TRAIN, ALL_REDUCE), stack_group((1,), SAVE, BARRIER)), (0, 1, 2)),
    ],
)
def test_two_collectives(groups: Any, culprits: tuple[int, ...]) -> None:
    found = cause_of(replace(ALL_WAIT, stack_groups=groups))
    assert (found.kind, found.culprits, found.is_communication) == ("mismatch", culprits, True)


def test_the_flight_recorder_knows_better_than_the_stacks() -> None:
    """With NCCL all ranks stand in the next synchronisation, whatever they enqueued."""
    for kind, expected in (
        ("mismatch", "mismatch"),
        ("missing", "missing"),
        ("stalled", "transport"),
        ("queued", "unknown"),
    ):
        found = cause_of(replace(ALL_WAIT, flight=flight(kind)))
        assert found.kind == expected
        assert found.why == "the recorder says so"
        assert found.culprits == ((2,) if kind in ("mismatch", "missing") else ())


def ras(kind: RasKind, *culprits: int) -> RasVerdict:
    return RasVerdict(kind=kind, culprits=culprits, text="the counts say so", evidence=())


@pytest.mark.parametrize(
    ("watched", "verdict", "kind", "culprits"),
    [
        (replace(ALL_WAIT, world_size=8), ras("missing", 5), "missing", (5,)),
        (replace(ALL_WAIT, world_size=8), ras("missing"), "missing", ()),
        (ALL_WAIT, ras("mismatch", 2), "mismatch", (2,)),
        (ONE_OUT, ras("missing", 1), "missing", (1,)),
    ],
)
def test_the_counts_of_nccl_name_ranks_of_all_nodes(
    watched: Job, verdict: RasVerdict, kind: str, culprits: tuple[int, ...]
) -> None:
    found = cause_of(replace(watched, ras=verdict))
    assert (found.kind, found.culprits, found.why) == (kind, culprits, "the counts say so")


def test_what_is_seen_comes_before_counts_that_know_no_send() -> None:
    found = cause_of(replace(ONE_OUT, ras=ras("missing", 5)))
    assert (found.culprits, found.why) == ((1,), "rank 1 is outside any collective")
    assert cause_of(replace(ONE_OUT, ras=ras("mismatch", 2))).kind == "missing"
    assert cause_of(replace(ALL_WAIT, ras=ras("missing", 5), flight=flight("missing"))).culprits == (2,)
    apart = (stack_group((0, 1), TRAIN, ALL_REDUCE), stack_group((2,), SAVE, BARRIER))
    assert cause_of(replace(ALL_WAIT, ras=ras("missing", 5), stack_groups=apart)).culprits == (5,)


def test_the_same_operation_from_two_lines_is_no_mismatch_when_the_recorder_says_so() -> None:
    groups = (stack_group((0, 1), TRAIN, ALL_REDUCE), stack_group((2,), SAVE, BARRIER))
    assert cause_of(replace(ALL_WAIT, stack_groups=groups, flight=flight("stalled"))).kind == "transport"


def test_the_trail_tells_what_was_asked() -> None:
    found = cause_of(ONE_OUT)
    assert [step.is_it for step in found.trail] == [False] * 7 + [True]
    assert found.ruled_out.startswith("ruled out: no rank dead, no fault reported by kernel or driver, no rank stopped")
    assert not found.is_communication
    assert found.waiting == (0, 2)


def test_an_idle_gpu_among_spinning_ones_tells_who_never_came() -> None:
    ranks = [still(number, 70.0, phase="sync", is_waiting=False, idle_for_s=0.0, gpus=(number,)) for number in range(3)]
    gpus = tuple(
        Gpu(index=n, vendor="nvidia", name="H100", uuid=None, status="ok", util_pct=0.0 if n == 1 else 100.0)
        for n in range(3)
    )
    found = cause_of(job(*ranks), gpus)
    assert (found.kind, found.culprits) == ("missing", (1,))


def test_nothing_while_anything_moves() -> None:
    assert hang_cause(job(still(0), rank(1))) is None


def test_a_rank_at_a_lock_of_one_that_is_in_a_collective_is_missing_from_it() -> None:
    """The file lock, pipe or connection makes it wait, too; but the other one waits for it."""
    at_lock = still(1, phase="other", is_waiting=True, awaits_rank=0)
    found = cause_of(job(still(0), at_lock, stack_groups=(stack_group((0,), TRAIN, BARRIER), stack_group((1,), SAVE))))
    assert (found.kind, found.culprits, found.waiting) == ("missing", (1,), (0,))
    in_backward = still(0, phase="backward", is_waiting=True)
    at_pipe = still(1, phase="logging", is_waiting=True, awaits_rank=0)
    groups = (stack_group((0,), TRAIN, BARRIER), stack_group((1,), TRAIN, SAVE))
    assert cause_of(job(in_backward, at_pipe, stack_groups=groups)).culprits == (1,)
    first, second = still(0, phase="other", awaits_rank=1), still(1, phase="other", awaits_rank=0)
    assert cause_of(job(first, second)).culprits == (), "both wait for each other: none of them is missing"
