"""Every number that decides says what it means and where it is from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.thresholds import constants, limits
from tests.docs.user_texts import Text
from tests.docs.words import violations

THRESHOLDS = (*limits(), *constants())
CODE = '''"""A module."""
A_S = 2.0
"""Of both. Engineering default."""
B: float = 3 * A_S
C, D = 1, -0.5
"""Together. Source: a paper
of 2024."""
_BARE = 5
_KEPT_LINES = 8
TEXT = "no number"
ON = True
TABLE = {("x", "y"): 1.0}
"""Without a source."""
'''


def test_each_says_what_it_means_and_where_it_is_from() -> None:
    lacking = [f"{each.place}: {', '.join(each.values)}" for each in THRESHOLDS if not (each.meaning and each.source)]
    assert lacking == [], 'the docstring below it must end with "Source: ..." or "Engineering default."'


def test_they_keep_to_the_words() -> None:
    texts = (Text(f"{each.place}: {', '.join(each.values)}", each.meaning) for each in THRESHOLDS)
    assert list(violations(texts)) == []


@pytest.mark.parametrize("folder", ["symptoms/gpu", "job/hang"])
def test_what_stands_above_one_docstring_shares_it(folder: str, tmp_path: Path) -> None:
    file = tmp_path / "hwtop" / folder / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text(CODE)
    found = [(each.values, each.meaning, each.source) for each in constants(tmp_path / "hwtop")]
    assert found == [
        (("A_S = 2.0",), "Of both.", "engineering default"),
        (("B = 3 * A_S", "C, D = 1, -0.5"), "Together.", "a paper of 2024"),
        (("_BARE = 5",), "", ""),
        (("TABLE = {('x', 'y'): 1.0}",), "Without a source.", ""),
    ]
