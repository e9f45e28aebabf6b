from __future__ import annotations

import msgspec
from msgspec import Struct, field

from hwtop.model.stack import StackFrame, StackSample
from hwtop.report.exports.collapsed import collapsed
from hwtop.report.exports.speedscope import SCHEMA, speedscope
from tests.stack_jobs import frame

MAIN = frame("<module> train.py 50")
STEP = frame("Model.forward model.py 9")


def samples(*stacks: tuple[StackFrame, ...]) -> list[StackSample]:
    return [StackSample(at_s=float(index), frames=stack) for index, stack in enumerate(stacks)]


TWO_RANKS = {0: samples((STEP, MAIN), (STEP, MAIN), (MAIN,)), 7: samples((MAIN,))}


def test_collapsed_is_one_line_a_stack_with_the_rank_as_root() -> None:
    assert collapsed(TWO_RANKS) == (
        "rank 0;<module> (train.py:50) 1\n"
        "rank 0;<module> (train.py:50);Model.forward (model.py:9) 2\n"
        "rank 7;<module> (train.py:50) 1\n"
    )


def test_no_name_breaks_the_line() -> None:
    evil = StackFrame(name="a;b\n\x1b[31m", filename="/x;y/z.py", short_filename="x;y/z.py", line=3)
    (line,) = collapsed({0: samples((evil,))}).splitlines()
    assert line.count(";") == 1 and "\x1b" not in line
    assert line.endswith(" 1")


class Frame(Struct, forbid_unknown_fields=True):
    name: str
    file: str | None = None
    line: int | None = None
    col: int | None = None


class Profile(Struct, forbid_unknown_fields=True, tag="sampled"):
    """What file-format-schema.json requires of a sampled profile."""

    name: str
    unit: str
    start: float = field(name="startValue")
    end: float = field(name="endValue")
    samples: list[list[int]]
    weights: list[float]


class Shared(Struct, forbid_unknown_fields=True):
    frames: list[Frame]


class File(Struct, forbid_unknown_fields=True):
    """What it requires of the file, and what it allows besides."""

    schema: str = field(name="$schema")
    profiles: list[Profile]
    shared: Shared
    name: str | None = None
    exporter: str | None = None
    active: int | None = field(name="activeProfileIndex", default=None)


def test_speedscope_keeps_to_the_format() -> None:
    file = msgspec.json.decode(speedscope(TWO_RANKS, 6.0, "job of PID 1"), type=File)
    assert file.schema == SCHEMA
    assert [profile.name for profile in file.profiles] == ["rank 0", "rank 7"]
    frames = file.shared.frames
    assert [(each.name, each.file, each.line) for each in frames] == [
        ("<module>", "/home/ana/train/train.py", 50),
        ("Model.forward", "/home/ana/train/model.py", 9),
    ]
    first = file.profiles[0]
    assert first.unit in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
    assert first.samples == [[0, 1], [0, 1], [0]], "root first, in order of time"
    assert (first.weights, first.start, first.end) == ([2.0, 2.0, 2.0], 0.0, 6.0)
    assert all(len(profile.samples) == len(profile.weights) for profile in file.profiles)
    assert max(index for profile in file.profiles for stack in profile.samples for index in stack) < len(frames)


def test_a_rank_without_samples_is_left_out() -> None:
    file = msgspec.json.decode(speedscope({0: [], 1: samples((MAIN,))}, 1.0, "job"), type=File)
    assert [profile.name for profile in file.profiles] == ["rank 1"]
    assert collapsed({0: []}) == ""
