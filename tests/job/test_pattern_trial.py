"""What a pattern of the user's own is said to cost and to miss on a log."""

from __future__ import annotations

from itertools import count

from hwtop.job.log.block import LogBlock
from hwtop.job.patterns.registry import parse_file
from hwtop.job.patterns.trial import Trial, slow_length

OWN = """
[[pattern]]
id = "quota"
literals = ["quota", "Q-17"]
regex = 'quota of \\w+ reached|project \\w+ is full'
severity = "warning"
role = "root"
explanation = "The quota is used up."
""".replace("Q-17", "q-17")


def trial(*lines: str) -> Trial:
    found = Trial(parse_file(OWN, "own.toml"))
    found.add(LogBlock(path="a.log", line_no=1, data="".join(f"{line}\n" for line in lines).encode()))
    return found


def test_a_literal_is_too_common_from_a_hundredth_of_the_lines_on_and_never_below_eleven() -> None:
    assert trial(*["Quota checked"] * 11, *["step"] * 1089).common() == []
    assert trial(*["Quota checked"] * 11, *["step"] * 1088).common() == [("quota", "quota", 11)]
    assert trial(*["Quota checked"] * 10).common() == []
    assert trial(*["q-17"] * 11, *["quota q-17"] * 11).common() == [("quota", "q-17", 22), ("quota", "quota", 11)]


def test_lines_that_the_regex_finds_and_no_literal_leads_to_are_counted() -> None:
    found = trial("step 1", "project a is full", "quota of b reached", "Project c is FULL", "step 2")
    assert found.lines == 5
    assert found.ids == {"quota"}
    assert found.unreached == {0: (2, 2)}


def test_the_length_from_which_on_a_regex_is_slow() -> None:
    pattern = parse_file(OWN, "own.toml").patterns[0]
    assert slow_length(pattern, clock=lambda: 0.0) is None
    ticks = count()
    assert slow_length(pattern, clock=lambda: float(next(ticks))) == 8  # the shortest that is tried
    ticks = count()
    assert slow_length(pattern, clock=lambda: float(next(ticks)), limit_s=1.0) is None  # at the limit is not above it
