"""Samples as a file for https://www.speedscope.app, one profile for each rank.

Format: https://www.speedscope.app/file-format-schema.json ("sampled" profiles). The stacks of a profile are in order of time,
so its "time order" view shows the steps of the training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field

from hwtop import __version__
from hwtop.model.stack import StackFrame, StackSample

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Frame(Struct, frozen=True, omit_defaults=True):
    name: str
    file: str = ""
    line: int = 0


class _Profile(Struct, kw_only=True):
    type: str = "sampled"
    name: str
    unit: str = "seconds"
    start_value: float = field(name="startValue", default=0.0)
    end_value: float = field(name="endValue")
    samples: list[list[int]]
    weights: list[float]


class _Shared(Struct):
    frames: list[_Frame]


class _File(Struct, kw_only=True):
    schema: str = field(name="$schema", default=SCHEMA)
    name: str
    exporter: str
    active: int = field(name="activeProfileIndex", default=0)
    profiles: list[_Profile]
    shared: _Shared


def speedscope(samples: Mapping[int, Sequence[StackSample]], seconds: float, name: str) -> str:
    """Rank -> its samples, which together stand for `seconds`, to the text of the file. Ranks without samples are left out."""
    frames: dict[_Frame, int] = {}
    profiles = [_profile(rank, taken, seconds, frames) for rank, taken in samples.items() if taken]
    file = _File(name=name, exporter=f"hwtop@{__version__}", profiles=profiles, shared=_Shared(list(frames)))
    return msgspec.json.encode(file).decode() + "\n"


def _profile(rank: int, taken: Sequence[StackSample], seconds: float, frames: dict[_Frame, int]) -> _Profile:
    stacks = [[frames.setdefault(_frame(frame), len(frames)) for frame in reversed(sample.frames)] for sample in taken]
    weight_s = seconds / len(stacks)
    return _Profile(name=f"rank {rank}", end_value=seconds, samples=stacks, weights=[weight_s] * len(stacks))


def _frame(frame: StackFrame) -> _Frame:
    return _Frame(name=frame.name, file=frame.filename, line=frame.line)
