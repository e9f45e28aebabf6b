"""Input that once broke hwtop, and a little that is made from fixed seeds: `make fuzz` looks for more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.claims import ClaimError
from tests.fuzz.run import CORPUS, TARGETS, failure, smaller
from tests.fuzz.target import Item, Target

KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


def checked(target: Target, item: Item, folder: Path) -> None:
    error = failure(target, item, folder)
    if error is not None:
        raise AssertionError(f"{target.name}: {item.packed[:2000]!r}") from error


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke_it_is_handled(path: Path, tmp_path: Path) -> None:
    checked(TARGETS[path.parent.name], Item.unpacked(path.read_bytes()), tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_whole_input_is_read(name: str, tmp_path: Path) -> None:
    """The claims hold of what is not spoilt, so that a failure is one of the change."""
    target = TARGETS[name]
    variant = min(target.samples)
    checked(target, Item(variant, target.samples[variant][0]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_input_is_handled(name: str, tmp_path: Path) -> None:
    for number in range(5):
        checked(TARGETS[name], TARGETS[name].item(random.Random(number)), tmp_path)


def test_a_failure_is_found_and_made_small(tmp_path: Path) -> None:
    def check(_variant: str, data: bytes, _folder: Path) -> None:
        if b"x" in data:
            raise ClaimError("holds an x")

    target = Target("made", lambda: {"": [b"abc"]}, check)
    item = Item("", b"a" * 700 + b"x" + b"b" * 300)
    assert isinstance(failure(target, item, tmp_path), ClaimError)
    assert smaller(target, item, "ClaimError holds an x", tmp_path).data == b"x"
