from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest

import hwtop
from hwtop.lazy_regex import _Lazy, lazy_regex


def test_it_does_what_the_compiled_one_does() -> None:
    words = lazy_regex(r"(\w+)=(\d+)", re.IGNORECASE)
    assert [match[1] for match in words.finditer("step=5 loss=2")] == ["step", "loss"]
    assert words.sub(r"\2", "step=5") == "5"
    assert words.search("no number") is None
    assert (words.groups, words.flags & re.IGNORECASE, words.pattern) == (2, re.IGNORECASE, r"(\w+)=(\d+)")


def test_it_is_compiled_once() -> None:
    words = lazy_regex(r"a+")
    assert words.search is words.search


def test_every_one_compiles() -> None:
    names = [
        info.name for info in walk_packages(hwtop.__path__, "hwtop.") if info.name.startswith(("hwtop.job", "hwtop.ui"))
    ]
    found = [value for name in names for value in vars(import_module(name)).values() if isinstance(value, _Lazy)]
    assert len(found) > 100
    for each in found:
        assert re.compile(each.pattern, each._flags)


def test_an_error_in_it_is_raised_at_its_first_use() -> None:
    with pytest.raises(re.error):
        lazy_regex("(").search("text")
