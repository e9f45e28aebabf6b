"""Prefilter: every literal is found, whatever stands around it, with Hyperscan and without."""

from __future__ import annotations

import sys

import pytest

from hwtop.job.patterns.prefilter import Prefilter, refused, search_kind


def block_hyperscan(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a platform for which there is no wheel of it."""
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    monkeypatch.delitem(sys.modules, "hwtop.job.patterns.hyperscan_search", raising=False)


@pytest.fixture(params=["HyperscanSearch", "PlainSearch"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs with both."""
    if request.param == "PlainSearch":
        block_hyperscan(monkeypatch)
    name = search_kind().__name__
    assert name == request.param
    return name


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


def test_a_literal_is_found_across_blocks_of_text() -> None:
    text = b"x" * 65_530 + b"no space left" + b"x" * 70_000 + b"oom"
    assert found(Prefilter(("oom", "no space left", "space")), text) == [
        (text[: 65_530 + 8], 2),
        (text[: 65_530 + 13], 1),
        (text, 0),
    ]


def test_an_expression_is_met_in_each_state_of_a_bar() -> None:
    text = b"1 killed by oom\r2 killed by oom\nkilled\noom"
    ends = [end for end, _ in Prefilter((), (rb"killed[^\n]{1,40}\boom\b",)).hits(text)]
    assert {15, 31} <= set(ends)
    assert max(ends) == 31
