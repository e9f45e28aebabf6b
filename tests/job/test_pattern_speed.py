"""No regex of a pattern may be held up by a line that nearly matches it again and again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from hwtop.job.patterns.prefilter import refused
from hwtop.job.patterns.registry import Pattern, builtin
from hwtop.job.patterns.trial import slow_length

_SHORT, _LONG = 2048, 8192
_WORTH_S = 0.01
"""Below this a line costs nothing, however it grows, and the clock tells more of itself than of the regex."""
_FILLERS = ("a", "1", " ", "a ", "1.", "=", "-", "[", "'", "x=", "a/", "1-")


def seconds(regex: re.Pattern[str], unit: str, length: int, turns: int) -> float:
    text = (unit * (length // len(unit) + 1))[:length] + "\x01"
    best = float("inf")
    for _ in range(turns):
        began = time.process_time()
        regex.search(text)
        best = min(best, time.process_time() - began)
        if best < _WORTH_S:
            break
    return best


def grows(regex: re.Pattern[str], unit: str, turns: int) -> bool:
    long_s = seconds(regex, unit, _LONG, turns)
    return long_s > _WORTH_S and long_s > 10 * seconds(regex, unit, _SHORT, turns)


def growing(pattern: Pattern) -> Iterator[str]:
    """Near-matches for which four times the line takes more than ten times as long: linear takes 4, quadratic 16."""
    for regex in (pattern.regex, pattern.unless):
        if regex is None:
            continue
        for unit in (*pattern.literals, *_FILLERS):
            if all(grows(regex, unit, turns) for turns in (2, 20)):  # the second time for a machine that was busy
                yield f"{pattern.origin}: {pattern.id}: {unit!r} x {_LONG // len(unit)}: {regex.pattern[:200]}"


@pytest.mark.slow
def test_the_time_of_every_regex_grows_with_the_line_and_no_faster() -> None:
    assert [reported for pattern in builtin().patterns for reported in growing(pattern)] == []


@pytest.mark.slow
def test_every_expression_chooses_lines() -> None:
    expressions = [one.decode() for pattern in builtin().patterns for one in pattern.expressions]
    assert [(one, reason) for one in expressions if (reason := refused(one)) is not None] == []


def test_a_regex_that_explodes_is_found_by_a_short_line() -> None:
    pattern = next(pattern for pattern in builtin().patterns if pattern.regex is not None)
    explodes = Pattern(
        **{name: getattr(pattern, name) for name in pattern.__struct_fields__} | {"regex_text": "(a+)+b"}
    )
    length = slow_length(explodes, time.process_time)
    assert length is not None
    assert length < 100
