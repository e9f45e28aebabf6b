from __future__ import annotations

from hwtop.feed.assemble import Assembler
from hwtop.feed.sharing import share
from tests import frames
from tests.parts import replace
from tests.recording import load


def test_an_equal_state_is_the_earlier_one() -> None:
    derived = frames.healthy().derived
    same = replace(derived, job=derived.job)
    assert same is not derived
    assert share(derived, same) is derived


def test_what_has_changed_is_new_and_the_rest_is_the_earlier_one() -> None:
    earlier = frames.healthy().derived
    job = earlier.job
    assert job is not None
    first = replace(job.ranks[0], state="stopped")
    later = replace(earlier, at_s=earlier.at_s + 1.0, job=replace(job, ranks=(first, *map(replace, job.ranks[1:]))))
    shared = share(earlier, later)
    assert shared == later
    assert shared.job is not None
    assert shared.job.ranks[0].state == "stopped"
    assert all(now is then for now, then in zip(shared.job.ranks[1:], job.ranks[1:], strict=True))


def test_a_part_of_another_kind_is_left_alone() -> None:
    assert share(None, "x") == "x"
    assert share("x", None) is None
    assert share((1, 2), (1,)) == (1,)
    assert share((1,), (1, 2)) == (1, 2)
    assert share(1.0, 1) == 1 and isinstance(share(1.0, 1), int)


def test_the_states_of_a_watch_share_what_stays() -> None:
    assembler = Assembler()
    for snapshot in load("healthy"):
        frame = assembler.advance(snapshot)
    parts = [state.gpus for state in frame.history[:-1]]
    assert len({id(gpu.nvlinks) for gpus in parts for gpu in gpus}) < len(parts)
