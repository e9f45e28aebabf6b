from __future__ import annotations

import pytest

from hwtop.job.rank_set import do, named, parsed, rank_set


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ([], ""),
        ([3], "3"),
        ([3, 3], "3"),
        ([1, 0], "0-1"),
        ([0, 2], "0,2"),
        ([9, 0, 1, 2, 3, 4, 5, 6], "0-6,9"),
        ([0, 1, 3, 4, 8], "0-1,3-4,8"),
    ],
)
def test_rank_set(ranks: list[int], text: str) -> None:
    assert rank_set(ranks) == text


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("2", {2}),
        ("0-2,7", {0, 1, 2, 7}),
        ("", set()),
        ("-", set()),
        ("3-", set()),
        ("5-3", set()),
        (",1,", {1}),
        ("1-²", set()),
    ],
)
def test_what_is_typed_as_a_set(text: str, ranks: set[int]) -> None:
    assert parsed(text) == ranks


def test_named() -> None:
    assert named([3]) == "rank 3"
    assert named([3, 3]) == "rank 3"
    assert named([0, 1, 5]) == "ranks 0-1,5"


def test_verbs_agree_with_how_many_do_it() -> None:
    assert (do([3], "wait"), do([0, 1], "wait"), do([3], "be"), do([0, 1], "be")) == ("waits", "wait", "is", "are")


def test_a_set_full_of_gaps_is_counted() -> None:
    assert named(range(0, 512, 2)) == "256 ranks (0,2,4,6,…)"
    assert named([*range(8), *range(100, 200)]) == "ranks 0-7,100-199"
