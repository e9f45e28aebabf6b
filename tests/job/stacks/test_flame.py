from __future__ import annotations

from hwtop.job.stacks.flame import KEPT_DEPTH, KEPT_NODES, flame_roots
from hwtop.model.flame import FlameNode
from hwtop.model.stack import StackFrame
from tests.stack_jobs import frame, recorded

MAIN = frame("<module> train.py 50")


def names(nodes: tuple[FlameNode, ...]) -> list[tuple[str, int]]:
    return [(node.frame.name, node.samples) for node in nodes]


def test_stacks_that_share_their_root_share_its_node() -> None:
    (root,) = flame_roots(
        {
            (frame("decode data.py 7"), frame("load data.py 3"), MAIN): 6,
            (frame("decode data.py 8"), frame("load data.py 3"), MAIN): 1,
            (frame("forward model.py 9"), MAIN): 3,
        }
    )
    assert (root.frame.name, root.samples) == ("<module>", 10)
    assert names(root.children) == [("load", 7), ("forward", 3)]
    (decode,) = root.children[0].children
    assert (decode.samples, decode.frame.line, decode.is_user) == (7, 7, True)


def test_a_function_that_calls_from_several_lines_is_at_none_of_them() -> None:
    (root,) = flame_roots(
        {
            (frame("forward model.py 9"), frame("step train.py 103"), MAIN): 3,
            (frame("backward model.py 7"), frame("step train.py 105"), MAIN): 7,
        }
    )
    (step,) = root.children
    assert (root.frame.line, step.frame.line, step.samples) == (50, 0, 10)


def test_a_line_of_the_callee_is_not_that_of_another_function_of_the_same_name() -> None:
    (root,) = flame_roots({(frame("step a.py 1"), MAIN): 1, (frame("step b.py 1"), MAIN): 2})
    assert [(node.frame.short_filename, node.samples) for node in root.children] == [("b.py", 2), ("a.py", 1)]


def test_library_code_is_there_and_plumbing_is_not() -> None:
    stack = recorded("gloo_rank1_all_reduce").frames
    (node,) = flame_roots({stack: 5})
    seen = []
    while True:
        seen.append((node.frame.name, node.is_user))
        if not node.children:
            break
        (node,) = node.children
    assert ("sync_step", True) in seen and ("all_reduce", False) in seen
    assert ("wrapper", False) not in seen


def test_recursion_nests_and_is_cut() -> None:
    (node,) = flame_roots({(frame("walk tree.py 4"),) * 990: 3})
    depth = 1
    while node.children:
        (node,) = node.children
        depth += 1
    assert depth == KEPT_DEPTH


def test_the_narrowest_are_left_out_of_a_flame_that_is_too_large() -> None:
    stacks: dict[tuple[StackFrame, ...], int] = {(frame(f"f{index} x.py 1"), MAIN): 1 for index in range(KEPT_NODES)}
    stacks[frame("wide x.py 1"), MAIN] = 50
    (root,) = flame_roots(stacks)
    assert root.samples == KEPT_NODES + 50
    assert names(root.children) == [("wide", 50)]


def test_nothing_gives_nothing() -> None:
    assert flame_roots({}) == ()
    assert flame_roots({(): 3}) == ()
