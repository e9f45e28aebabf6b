from __future__ import annotations

import pytest

from hwtop.job.flight.analysis import verdicts
from hwtop.job.flight.team import WAITED_S
from hwtop.model.reported.flight import FlightDump, FlightVerdict
from hwtop.model.stack import StackFrame
from tests.flight_dumps import TAKEN_S, nccl, op, recorded
from tests.parts import replace

DONE = {"state": "completed"}


def one(dumps: list[FlightDump] | tuple[FlightDump, ...]) -> FlightVerdict:
    found = verdicts(dumps)
    assert len(found) == 1, found
    return found[0]


def eight(others: dict[int, dict[str, object]] | None = None, **common: object) -> list[FlightDump]:
    """Eight ranks in all_reduce 1580 after 1579 was done; `others` differ."""
    dumps = []
    for rank in range(8):
        arguments: dict[str, object] = {"name": "all_reduce", "sequence": 1580, **common}
        arguments |= (others or {}).get(rank, {})
        dumps.append(nccl(rank, op("all_reduce", 1579, state="completed"), op(**arguments), world=8))  # type: ignore[arg-type]
    return dumps


@pytest.mark.parametrize("kind", ["mismatch", "mismatch2"])
def test_recorded_mismatch_names_both_call_sites(kind: str) -> None:
    verdict = one(recorded(kind))
    assert verdict.kind == "mismatch" and verdict.sequence == 6 and verdict.group == "default_pg"
    assert "all_reduce #6 [1024] float32 (train.py:53 train_step)" in verdict.text
    assert "broadcast #6 [8] float32 (train.py:57 save_checkpoint)" in verdict.text


def test_majority_is_right_and_without_one_all_are_suspects() -> None:
    assert (one(recorded("mismatch")).culprits, one(recorded("mismatch")).waiting) == ((2,), (0, 1))
    assert (one(recorded("mismatch2")).culprits, one(recorded("mismatch2")).waiting) == ((0, 1), (0, 1))


def test_first_rank_may_be_the_culprit() -> None:
    verdict = one(eight({0: {"name": "broadcast", "sizes": (8,), "at": "save_checkpoint 240"}}))
    assert verdict.culprits == (0,) and verdict.waiting == tuple(range(1, 8))
    assert verdict.text == (
        "ranks 1-7 enqueued all_reduce #1580 [1024] float32 (train.py:231 train_step),"
        " rank 0 broadcast #1580 [8] float32 (train.py:240 save_checkpoint)"
    )


def test_recorded_missing_rank() -> None:
    verdict = one(recorded("missing"))
    assert (verdict.kind, verdict.culprits, verdict.waiting) == ("missing", (2,), (0, 1))
    assert "rank 2 never enqueued it (last all_reduce #5" in verdict.text


def test_recorded_healthy_job_has_no_verdict() -> None:
    dumps = recorded("healthy")
    assert len(dumps) == 3 and all(dump.error is None for dump in dumps)
    assert verdicts(dumps) == ()


@pytest.mark.parametrize(
    "other",
    [{"sizes": (1000,)}, {"dtype": "Half"}],
    ids=["sizes", "dtype"],
)
def test_same_operation_with_other_sizes_or_types_is_a_mismatch(other: dict[str, object]) -> None:
    verdict = one(eight({5: other}))
    assert (verdict.kind, verdict.culprits) == ("mismatch", (5,))


def test_shape_does_not_matter_where_the_number_of_elements_is_the_same() -> None:
    assert one(eight({5: {"sizes": (32, 32)}})).kind == "stalled"


@pytest.mark.parametrize(
    ("name", "root", "others"),
    [
        ("gather", {"sizes": (2,), "out": (8, 2)}, {"sizes": (2,), "out": ()}),
        ("scatter", {"sizes": (8, 2), "out": (2,)}, {"sizes": None, "out": (2,)}),
        ("all_to_all", {"sizes": (5,), "out": (3,)}, {"sizes": (3,), "out": (5,)}),
    ],
)
def test_sizes_that_may_differ_are_no_mismatch(name: str, root: dict[str, object], others: dict[str, object]) -> None:
    first = nccl(0, op(name, 4, **root), world=2)  # type: ignore[arg-type]
    second = nccl(1, op(name, 4, **others), world=2)  # type: ignore[arg-type]
    assert one([first, second]).kind == "stalled"


def test_an_all_to_all_must_agree_in_sum() -> None:
    dumps = [nccl(rank, op("all_to_all", 4, sizes=(5,), out=(3 + rank,)), world=2) for rank in (0, 1)]
    verdict = one(dumps)
    assert verdict.kind == "mismatch" and verdict.culprits == (0, 1)
    assert "together they send 10 elements and expect 7" in verdict.text


def test_all_started_and_none_finished_is_the_transport() -> None:
    verdict = one(eight(state="started"))
    assert (verdict.kind, verdict.culprits, verdict.waiting) == ("stalled", (), tuple(range(8)))
    assert "all started all_reduce #1580" in verdict.text


def test_none_started_is_an_earlier_kernel_only_where_starts_are_recorded() -> None:
    assert one(eight()).kind == "stalled"
    dumps = [nccl(rank, op("all_reduce", 3), world=2, status={"0": (3, 2, 2)}, taken_s=TAKEN_S) for rank in (0, 1)]
    verdict = one(dumps)
    assert verdict.kind == "queued" and "none has started it" in verdict.text


def test_some_started_others_not_names_those_whose_gpu_is_busy() -> None:
    verdict = one(eight({3: {"state": "scheduled"}}, state="started"))
    assert (verdict.kind, verdict.culprits) == ("queued", (3,))


def test_finished_by_all_but_one() -> None:
    verdict = one(eight({7: {"state": "started"}}, state="completed"))
    assert (verdict.kind, verdict.culprits, verdict.waiting) == ("stalled", (7,), (7,))
    assert verdict.text.startswith("ranks 0-6 finished all_reduce #1580")


def test_rank_without_dump_is_a_clue_where_few_are() -> None:
    verdict = one([dump for dump in eight(state="started") if dump.rank != 5])
    assert (verdict.kind, verdict.culprits, verdict.ranks_without_dump) == ("missing", (5,), (5,))
    assert "rank 5 wrote no dump" in verdict.text


def test_many_without_dump_are_on_other_machines() -> None:
    verdict = one(eight(state="started")[:3])
    assert (verdict.kind, verdict.culprits) == ("stalled", ())
    assert verdict.text.endswith("(3 of 8 ranks wrote a dump)")


def test_that_an_asked_process_did_not_answer_proves_nothing() -> None:
    dumps = [replace(dump, is_asked=True) for dump in eight(state="started") if dump.rank != 5]
    assert one(dumps).kind == "stalled"


def test_young_operations_are_no_hang() -> None:
    assert verdicts(eight(state="started", age_s=WAITED_S - 0.1)) == ()
    assert len(verdicts(eight(state="started", age_s=WAITED_S))) == 1


def test_dumps_of_different_times_do_not_make_a_rank_late() -> None:
    waits = nccl(0, op("all_reduce", 100, age_s=20.0), world=2)
    before = nccl(1, op("all_reduce", 99, state="completed", age_s=30.0), world=2, taken_s=TAKEN_S - 19.0)
    assert verdicts([waits, before]) == ()
    after = nccl(1, op("all_reduce", 99, state="completed", age_s=30.0), world=2, taken_s=TAKEN_S - 10.0)
    assert one([waits, after]).culprits == (1,)


def test_ring_buffers_that_begin_at_different_operations() -> None:
    full = [op("all_reduce", number, state="completed") for number in range(1, 50)]
    newest = [op("all_reduce", number, state="completed") for number in range(40, 50)]
    hung = op("all_reduce", 50)
    assert one([nccl(0, *full, hung, world=2), nccl(1, *newest, hung, world=2)]).kind == "stalled"
    # rank 1 ran far ahead and its ring has lost what rank 0 hangs in: it is not late
    ahead = [op("all_reduce", number) for number in range(200, 210)]
    verdict = one([nccl(0, *full, hung, world=2), nccl(1, *ahead, world=2, status={"0": (209, -1, 49)})])
    assert verdict.kind == "stalled" and verdict.sequence == 50


def test_divergence_that_one_side_survived_is_traced_to_its_start() -> None:
    """The root of a broadcast may finish it alone: it hangs one operation later than the rank that differed."""
    root = nccl(0, op("broadcast", 6, sizes=(8,), state="completed"), op("all_reduce", 7), world=2)
    other = nccl(1, op("all_reduce", 6), world=2)
    verdict = one([root, other])
    assert (verdict.kind, verdict.sequence, verdict.waiting) == ("mismatch", 6, (0, 1))


def test_coalesced_batch_counts_as_one_and_has_the_state_of_its_closing_entry() -> None:
    def batch(state: str) -> tuple[dict[str, object], ...]:
        members = [op("_reduce_scatter_base", 9), op("_reduce_scatter_base", 9)]
        return (*members, op("coalesced", 9, sizes=None, state=state))

    assert verdicts([nccl(rank, *batch("completed"), world=2, status={}) for rank in (0, 1)]) == ()
    verdict = one([nccl(0, *batch("scheduled"), world=2), nccl(1, op("_reduce_scatter_base", 9), world=2)])
    assert verdict.kind == "mismatch" and "and 1 more in one batch" in verdict.text


def test_groups_of_one_name_and_other_ranks_are_different_groups() -> None:
    pair = ("1", "tp")
    dumps = [
        nccl(0, op("all_reduce", 4, group=pair, state="completed"), world=4, groups={pair: (0, 1)}),
        nccl(1, op("all_reduce", 4, group=pair, state="completed"), world=4, groups={pair: (0, 1)}),
        nccl(2, op("all_gather", 4, group=pair), world=4, groups={pair: (2, 3)}),
        nccl(3, op("all_gather", 4, group=pair), world=4, groups={pair: (2, 3)}),
    ]
    verdict = one(dumps)
    assert verdict.kind == "stalled" and verdict.ranks_seen == (2, 3) and "in group tp" in verdict.text


def test_stuck_group_that_explains_the_others_comes_first() -> None:
    """Rank 1 is missing in dp because it hangs in tp, where rank 3 never came."""
    data, tensor = ("1", "dp"), ("2", "tp")
    groups = {data: (0, 1), tensor: (1, 3)}
    dumps = [
        nccl(0, op("all_reduce", 8, group=data, age_s=80), world=4, groups={data: (0, 1)}),
        nccl(
            1,
            op("all_reduce", 7, group=data, state="completed"),
            op("all_gather", 3, group=tensor, at="forward 90"),
            world=4,
            groups=groups,
        ),
        nccl(3, op("all_gather", 2, group=tensor, state="completed"), world=4, groups={tensor: (1, 3)}),
    ]
    first, second = verdicts(dumps)
    assert (first.group, first.culprits, first.waiting) == ("tp", (3,), (1,))
    assert (second.group, second.culprits) == ("dp", (1,))
    assert second.evidence[-1] == "rank 1 waits in all_gather #3 of group tp"


def test_places_of_now_serve_where_the_dump_holds_no_stack() -> None:
    dumps = [
        replace(dump, entries=tuple(replace(entry, frames=()) for entry in dump.entries))
        for dump in recorded("missing")
    ]
    now = StackFrame(name="main", filename="/home/ana/train.py", short_filename="train.py", line=70)
    text = verdicts(dumps, now_at={0: now})[0].text
    assert "all_reduce #6 [1024] float32 (now at train.py:70 main)" in text


def test_unreadable_dump_is_a_rank_without_one() -> None:
    dumps = eight(state="started")
    dumps[5] = FlightDump(rank=5, origin="x", at_s=0.0, error="cut off")
    assert one(dumps).culprits == (5,)


def send(source: int, target: int, number: int, **more: object) -> dict[str, object]:
    return op(f"send {source}->{target}", number, is_p2p=True, at="forward 12", **more)  # type: ignore[arg-type]


def receive(target: int, source: int, number: int, **more: object) -> dict[str, object]:
    return op(f"recv {target}<-{source}", number, is_p2p=True, at="forward 15", **more)  # type: ignore[arg-type]


def test_receive_that_nobody_sends() -> None:
    verdict = one(
        [nccl(0, send(0, 1, 1, **DONE), world=2), nccl(1, receive(1, 0, 1, **DONE), receive(1, 0, 2), world=2)]
    )
    assert (verdict.kind, verdict.culprits, verdict.waiting) == ("missing", (0,), (1,))
    assert verdict.text == (
        "rank 1 waits in recv 1<-0 [1024] float32 (train.py:15 forward), rank 0 never posted the send"
    )


def test_send_and_receive_of_different_sizes() -> None:
    verdict = one([nccl(0, send(0, 1, 7, sizes=(3,)), world=2), nccl(1, receive(1, 0, 2, sizes=(4,)), world=2)])
    assert (verdict.kind, verdict.culprits) == ("mismatch", (0, 1))


def test_send_and_receive_that_match_and_stand_still() -> None:
    assert one([nccl(0, send(0, 1, 7), world=2), nccl(1, receive(1, 0, 2), world=2)]).kind == "stalled"


def test_places_in_a_group_are_turned_into_ranks() -> None:
    stage = ("3", "pp")
    both = {stage: (2, 6)}
    dumps = [
        nccl(2, op("barrier", 1, group=stage, state="completed"), world=8, groups=both),
        nccl(6, receive(1, 0, 2, group=stage), world=8, groups=both),
    ]
    found = [verdict for verdict in verdicts(dumps) if verdict.group == "pp"]
    assert (found[0].culprits, found[0].waiting) == ((2,), (6,))


def test_members_of_a_finished_batch_are_not_pending() -> None:
    """They have no state of their own; and in a dump of active operations the closing entry is left out."""
    closing = op("coalesced", 5, sizes=None, is_p2p=True, state="completed")
    assert verdicts([nccl(0, send(0, 1, 5), closing, world=2), nccl(1, world=2)]) == ()
    asked = nccl(0, send(0, 1, 5), world=2, is_asked=True)
    assert verdicts([asked, nccl(1, world=2, is_asked=True)]) == ()
