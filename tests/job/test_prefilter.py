"""Prefilter: every literal is found, whatever stands around it."""

from __future__ import annotations

import pytest

from hwtop.job.patterns.prefilter import Prefilter, refused


def found(prefilter: Prefilter, text: bytes) -> list[tuple[bytes, int]]:
    return [(text[:end], number) for end, number in prefilter.hits(text)]


def test_literals_are_found_in_any_case_and_in_the_order_of_their_ends() -> None:
    prefilter = Prefilter(("no space left", "space", "xid"))
    assert found(prefilter, b"a NO SPACE LEFT\nxXiD") == [
        (b"a NO SPACE", 1),
        (b"a NO SPACE LEFT", 0),
        (b"a NO SPACE LEFT\nxXiD", 2),
    ]


@pytest.mark.parametrize(
    "literal", ["</torch_", "(pid(s)", "a.b*c+?", "[::]:", "{}|^$\\", "tab\there", "ärger", "温度", "#x -"]
)
def test_a_literal_means_itself(literal: str) -> None:
    prefilter = Prefilter((literal,))
    text = f"before {literal} behind\n".encode()
    assert found(prefilter, text) == [(f"before {literal}".encode(), 0)]
    assert prefilter.hits(b"a_b c pid s torch 1 xx") == []


def test_expressions_are_numbered_behind_the_literals() -> None:
    prefilter = Prefilter(("oom",), (rb"(?:^|[^a-z])nan$",))
    assert [number for _, number in prefilter.hits(b"banan\nloss nan\noom")] == [1, 0]


def test_nothing_to_look_for_or_in() -> None:
    assert Prefilter(()).hits(b"text") == []
    assert Prefilter(("a",)).hits(b"") == []


@pytest.mark.parametrize("expression", ["(", "a*", "(?<=x)nan", "[^a]"])
def test_what_cannot_choose_lines_is_refused(expression: str) -> None:
    assert refused(expression)


def test_a_good_expression_is_not_refused() -> None:
    assert refused(r"\bnan(?:$|[^a-z\n])") is None
