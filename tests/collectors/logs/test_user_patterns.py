"""User patterns: found where the desktop standard says, and a bad file is told, not fatal."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.logs.user_patterns import folder, known_patterns, read_pattern_file
from hwtop.errors import UsageError
from hwtop.job.patterns.match import Matcher
from hwtop.model.reported.log import LogLine

OWN = """
[[pattern]]
id = "quota-reached"
literals = ["quota of project"]
regex = 'quota of project (?P<project>\\w+) reached'
severity = "warning"
role = "root"
title = "Quota reached"
explanation = "The project's quota is used up."
playbook = ["quota -s"]
"""


def home_with(tmp_path: Path, **files: str) -> dict[str, str]:
    place = tmp_path / "config" / "hwtop" / "patterns.d"
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / f"{name}.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_where_they_are_looked_for() -> None:
    assert folder({"HOME": "/home/a"}) == "/home/a/.config/hwtop/patterns.d"
    assert folder({"HOME": "/home/a", "XDG_CONFIG_HOME": "/cfg"}) == "/cfg/hwtop/patterns.d"
    assert folder({"HOME": "/home/a", "XDG_CONFIG_HOME": "relative"}) == "/home/a/.config/hwtop/patterns.d"


def test_without_a_folder_there_are_those_of_hwtop(tmp_path: Path) -> None:
    known = known_patterns({"XDG_CONFIG_HOME": str(tmp_path)})
    assert known.problems == ()
    assert not any(pattern.is_own for pattern in known.registry.patterns)


def test_own_patterns_are_tried_first_and_tell_what_they_say(tmp_path: Path) -> None:
    known = known_patterns(home_with(tmp_path, own=OWN))
    line = LogLine(path="a", line_no=1, text="quota of project X12 reached: No space left on device", at_s=0.0)
    first, second = Matcher(known.registry).match([line])
    assert (first.pattern, first.title, first.playbook, first.groups) == (
        "quota-reached",
        "Quota reached",
        ("quota -s",),
        {"project": "X12"},
    )
    assert second.pattern == "disk-full"


def test_a_regex_that_might_never_end_is_left_out_and_told(tmp_path: Path) -> None:
    endless = OWN.replace("(?P<project>\\w+) reached", "(\\w+ ?)+ reached").replace("quota-reached", "endless")
    known = known_patterns(home_with(tmp_path, endless=endless, own=OWN))
    (problem,) = known.problems
    assert "endless.toml" in problem
    assert "bound its repeats" in problem
    assert [pattern.id for pattern in known.registry.patterns if pattern.is_own] == ["quota-reached"]


def test_an_own_regex_sees_the_beginning_of_a_long_line_only(tmp_path: Path) -> None:
    matcher = Matcher(known_patterns(home_with(tmp_path, own=OWN)).registry)
    texts = ("quota of project a reached" + " x" * 5_000, "x " * 5_000 + "quota of project a reached")
    lines = [LogLine(path="a", line_no=number, text=text, at_s=0.0) for number, text in enumerate(texts, start=1)]
    assert [(event.pattern, event.line_no) for event in matcher.match(lines)] == [("quota-reached", 1)]


def test_a_bad_file_is_told_and_the_good_ones_are_used(tmp_path: Path) -> None:
    known = known_patterns(home_with(tmp_path, bad=OWN.replace("regex = 'quota", "regex = '(quota"), good=OWN))
    assert sum(pattern.is_own for pattern in known.registry.patterns) == 1
    (problem,) = known.problems
    assert "bad.toml" in problem
    assert '"quota-reached"' in problem
    assert "invalid regex" in problem
    assert "\n" not in problem


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "hwtop").mkdir()
    (tmp_path / "hwtop" / "patterns.d").write_text("")
    (problem,) = known_patterns({"XDG_CONFIG_HOME": str(tmp_path)}).problems
    assert "patterns.d" in problem


def test_an_expression_that_the_library_does_not_take(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace("literals", "expressions = ['(?<=a)b']\nliterals"))
    with pytest.raises(UsageError, match=r"quota-reached.*bad expression.*Zero-width"):
        read_pattern_file(str(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe\x00", "UTF-8"),
        (b"x" * (1 << 21), "1 MiB"),
        (None, "No such file"),
        (b"[[pattern]]\nid='a b'", "patterns -h"),
    ],
)
def test_what_is_no_pattern_file(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "own.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=says):
        read_pattern_file(str(path))
