from __future__ import annotations

from collections.abc import Iterator

from hwtop.job.stacks.trie import TrieNode, trie
from tests.stack_jobs import grouped, stack

REDUCE = stack(
    "all_reduce torch/distributed/distributed_c10d.py 3252",
    "step train.py 9",
    "main train.py 21",
    "<module> train.py 30",
)
BARRIER = stack(
    "barrier torch/distributed/distributed_c10d.py 4800", "save train.py 11", "main train.py 17", "<module> train.py 30"
)
EVAL = stack("step train.py 9", "main train.py 21", "<module> train.py 30")


def walk(node: TrieNode, depth: int = 0) -> Iterator[tuple[int, TrieNode]]:
    yield depth, node
    for child in node.children:
        yield from walk(child, depth + 1)


def test_ranks_stand_at_every_frame_they_are_in_and_part_where_the_lines_do() -> None:
    (root,) = trie(grouped({**dict.fromkeys(range(6), REDUCE), 6: EVAL, 7: BARRIER}))
    assert (root.frame.name, root.ranks) == ("<module>", tuple(range(8)))
    shown = [(depth, node.frame.name, node.frame.line, node.ranks) for depth, node in walk(root)]
    assert shown == [
        (0, "<module>", 30, tuple(range(8))),
        (1, "main", 21, tuple(range(7))),
        (2, "step", 9, tuple(range(7))),
        (3, "all_reduce", 0, tuple(range(6))),
        (1, "main", 17, (7,)),
        (2, "save", 11, (7,)),
        (3, "barrier", 0, (7,)),
    ]


def test_other_programs_have_roots_of_their_own() -> None:
    other = stack("serve server.py 3", "<module> server.py 30")
    assert [node.ranks for node in trie(grouped({0: REDUCE, 1: REDUCE, 2: other}))] == [(0, 1), (2,)]


def test_nothing_to_merge() -> None:
    assert trie(()) == ()
