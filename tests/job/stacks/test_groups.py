from __future__ import annotations

import pytest

from hwtop.collectors.stacks.pyspy import PySpy
from hwtop.job.stacks.frames import place
from hwtop.job.stacks.groups import divergence, parting, sentence
from hwtop.model.job import StackGroup
from hwtop.model.stack import ThreadStack
from tests.stack_jobs import grouped, recorded, stack, two_ranks, until

ALL_REDUCE = stack(
    "all_reduce torch/distributed/distributed_c10d.py 3252",
    "wrapper torch/distributed/c10d_logger.py 83",
    "train_step train.py 231",
    "main train.py 40",
    "<module> train.py 300",
)
DATA = stack(
    "select selectors.py 415",
    "wait multiprocessing/connection.py 947",
    "get multiprocessing/queues.py 113",
    "_try_get_data torch/utils/data/dataloader.py 1291",
    "main train.py 38",
    "<module> train.py 300",
)


def test_the_odd_rank_is_named_with_its_line() -> None:
    groups = grouped({**dict.fromkeys(range(7), ALL_REDUCE), 7: DATA})
    assert [entry.ranks for entry in groups] == [(0, 1, 2, 3, 4, 5, 6), (7,)]
    assert [entry.phase for entry in groups] == ["collective", "data"]
    assert sentence(groups) == (
        "ranks 0-6 wait in all_reduce (train.py:231 train_step), rank 7 is in _try_get_data (train.py:38 main)"
    )
    user = groups[0].user_frame
    assert user is not None and place(user) == "train.py:231 train_step"


def test_plumbing_and_library_lines_do_not_split_a_group() -> None:
    later = stack(
        "all_reduce torch/distributed/distributed_c10d.py 3260",
        "train_step train.py 231",
        "main train.py 40",
        "<module> train.py 300",
    )
    assert [entry.ranks for entry in grouped({0: ALL_REDUCE, 1: later})] == [(0, 1)]


def test_the_depth_inside_a_standard_library_wait_does_not_split_a_group() -> None:
    shallow = stack(
        "get multiprocessing/queues.py 110",
        "_try_get_data torch/utils/data/dataloader.py 1291",
        "main train.py 38",
        "<module> train.py 300",
    )
    groups = grouped({0: DATA, 1: shallow})
    assert [entry.ranks for entry in groups] == [(0, 1)]
    assert sentence(groups) == "ranks 0-1 are in _try_get_data (train.py:38 main)"


def test_recorded_mismatch_parts_in_main() -> None:
    groups = grouped({0: recorded("gloo_rank0_broadcast"), 1: recorded("gloo_rank1_all_reduce")})
    assert sentence(groups) == (
        "rank 0 waits in broadcast (trainer.py:75 run_eval), rank 1 waits in all_reduce (trainer.py:78 sync_step)"
    )
    where = divergence(groups)
    assert where is not None and where.common is not None
    assert (where.common.name, where.lines) == ("main", (65, 66))
    assert parting(groups) == "stacks diverge in main (trainer.py): rank 0 at line 65, rank 1 at line 66"


def test_one_group_does_not_part() -> None:
    groups = grouped({0: DATA, 1: DATA})
    assert divergence(groups) is None


def test_a_hand_written_collective_is_named_not_its_helper() -> None:
    own = stack(
        "_exactly comm.py 44", "receive comm.py 36", "all_reduce comm.py 85", "step train.py 7", "<module> train.py 9"
    )
    assert sentence(grouped({0: own})) == "rank 0 waits in all_reduce (train.py:7 step)"


def test_a_user_function_is_given_with_its_own_line() -> None:
    own = stack("augment image.py 12", "step train.py 7", "<module> train.py 9")
    assert sentence(grouped({3: own})) == "rank 3 is in augment (image.py:12)"


def test_many_places_make_one_readable_sentence() -> None:
    stacks = {rank: stack(f"place{rank} train.py {rank + 1}", "<module> train.py 9") for rank in range(6)}
    assert sentence(grouped(stacks)).endswith("rank 3 is in place3 (train.py:4), ranks 4-5 are elsewhere")


def test_no_stack_and_no_frame_are_said() -> None:
    assert sentence(()) == "no stack could be read"
    bare = ThreadStack(name=None, os_thread_id=None, is_active=False, owns_gil=False, frames=())
    assert sentence(grouped({0: bare})) == "rank 0 has no Python stack"


def test_512_ranks_make_two_groups() -> None:
    stacks = {rank: DATA if rank == 300 else ALL_REDUCE for rank in range(512)}
    groups = grouped(stacks)
    assert [len(entry.ranks) for entry in groups] == [511, 1]
    assert sentence(groups).startswith("ranks 0-299,301-511 wait in all_reduce")


@pytest.mark.real
def test_live_gloo_ranks_that_disagree_are_grouped_with_both_call_sites() -> None:
    spy = PySpy()
    with two_ranks("disagree") as pids:

        def look() -> tuple[StackGroup, ...]:
            threads = {rank: spy.look(pid).dump.threads for rank, pid in enumerate(pids)}
            return grouped({rank: found[0] for rank, found in threads.items() if found})

        groups = until(look, lambda found: [each.phase for each in found] == ["collective", "collective"])
        said = sentence(groups)
    assert said.startswith("rank 0 waits in broadcast (torch_trainer.py:")
    assert "share_result)" in said
    assert ", rank 1 waits in all_reduce (torch_trainer.py:" in said
    assert said.endswith("sync_step)")


def test_of_many_groups_the_majority_and_those_that_differ_are_named() -> None:
    places = {0: 8, 8: 4, 12: 4, 16: 1, 17: 2}  # first rank -> how many ranks
    stacks = {
        rank: stack(f"place{first} train.py {first + 1}", "<module> train.py 9")
        for first, count in places.items()
        for rank in range(first, first + count)
    }
    assert sentence(grouped(stacks)) == (
        "ranks 0-7 are in place0 (train.py:1), rank 16 is in place16 (train.py:17), "
        "ranks 17-18 are in place17 (train.py:18), ranks 8-11 are in place8 (train.py:9), ranks 12-15 are elsewhere"
    )
