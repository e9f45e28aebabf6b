"""Past: earlier frames of this watch that can be shown again. Pure.

Each is kept whole and packed, so nothing of one moment is ever shown at another. What frames share is left out and put back
from the newest one: its history as far as it reaches, its curves and deep looks up to that time. The older they are, the
further apart: what is dropped is always the frame that stands closest to its neighbours for its age, so the time between two
grows in proportion to their age and the whole watch stays in a bounded number of bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from msgspec import Struct, msgpack, structs
from msgspec.structs import replace

from hwtop.model.curve import Curve, CurvePoint
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.job import Job
from hwtop.model.reported.log import Severity
from hwtop.model.stack import DeepDump
from hwtop.store.encoding import encoded
from hwtop.symptoms.severity import gravity
from hwtop.symptoms.verdict import VERDICT_S

MOST_BYTES = 10 * 1024**2
"""Of all packed frames; engineering default. A frame of 8 ranks with 8 GPUs takes some 16 KB."""
MOST = 1_000
"""Frames; engineering default, for small jobs."""
MOST_OF_RECORDING_BYTES = 64 * 1024**2
"""As `MOST_BYTES`, of a recording: an hour of 8 ranks with 8 GPUs at 1 Hz."""
MOST_OF_RECORDING = 4_000
"""As `MOST`, of a recording."""
_MOST_TREND = 1_500
"""Points of the trends of a recording: memory is the bound."""
TRENDS_S = 600.0
"""What the history of a frame holds at most (see `hwtop.feed.assemble`)."""
_PACE_BYTES = 500_000
"""Packed in a second at most, on average: 3 ms of a core, measured with 8 ranks (110 KB a frame)."""
_TURN = 20.0
"""A frame with which a finding came or went may stand this many times closer to its neighbours; engineering default."""
OPENED_S = 60.0
"""A recording is opened at its first warning, if that is among so many first seconds; engineering default."""
_GAP_LEAST_S, _GAP_INTERVALS = 5.0, 3.0
"""Nothing was looked at for so long, and for so many intervals: a gap, not a late look; engineering default."""


@cache
def _decoder() -> msgpack.Decoder[Frame]:
    """Made when an earlier frame is first shown: it takes 15 ms, as a frame has some 150 types in it."""
    return msgpack.Decoder(Frame)


class StoredFrame(Struct, frozen=True):
    """One frame that can be shown again."""

    number: int
    time_s: float
    watched_s: float
    severity: Severity | None
    """Of its gravest finding."""
    raised: Severity | None
    """Of the gravest finding that was not there in the frame before."""
    has_cleared: bool
    """A finding of the frame before is gone."""
    gap_s: float
    """Just before it, nothing was looked at for so long: the machine slept or hwtop was stopped."""
    packed: bytes = b""
    """Empty for the newest frame, which is at hand."""
    size_bytes: int = 0
    """Before it was packed."""

    @property
    def is_turn(self) -> bool:
        """A finding came or went with it."""
        return self.raised is not None or self.has_cleared


class Moment(NamedTuple):
    """One state of a history."""

    node: str | None
    """As `Frame.node`: whose history it is."""
    derived: DerivedState


class FrameHistory(Struct, frozen=True):
    """What can be shown again, oldest first; the newest frame is the last."""

    kept: tuple[StoredFrame, ...] = ()
    newest: Frame | None = None
    is_recording: bool = False
    """Of a recording: all of it matters alike, so frames are not dropped by their age, and trends reach back from each."""
    trend: tuple[Moment, ...] = ()
    """Of a recording: what the histories of its frames are made of, oldest first."""
    trend_every: int = 1
    """Each so many frames there is one in `trend`."""
    is_whole: bool = False
    """Of a recording: nothing more will come."""

    @property
    def size_bytes(self) -> int:
        """Of the packed frames."""
        return sum(len(each.packed) for each in self.kept)


def with_frame(past: FrameHistory, frame: Frame) -> FrameHistory:
    """The past with the newest frame. Another watch, e.g. of the job that was picked, begins anew."""
    before = past.newest
    if before is None or frame.number < before.number:
        return FrameHistory((_mark(frame, None),), frame, past.is_recording)
    *older, last = past.kept
    mark = _mark(frame, before)
    if frame.number == before.number:  # the same look, told anew
        again = replace(mark, raised=last.raised, has_cleared=last.has_cleared, gap_s=last.gap_s)
        return replace(past, kept=(*older, again), newest=frame)
    if _is_due(older, last):
        older.append(_packed(last, before))
    else:
        mark = replace(mark, gap_s=max(mark.gap_s, last.gap_s))
    kept = _thinned([*older, mark], is_recording=past.is_recording)
    return _with_trend(replace(past, kept=kept, newest=frame)) if past.is_recording else FrameHistory(kept, frame)


def place_of(past: FrameHistory, number: int) -> int:
    """Of the kept frame with this number, or of the last one before it; -1 where all that is kept is younger."""
    return next((place for place in reversed(range(len(past.kept))) if past.kept[place].number <= number), -1)


def nearest(past: FrameHistory, time_s: float) -> int:
    """Place of the frame closest to this time of day (the clock may have been set back meanwhile)."""
    return min(range(len(past.kept)), key=lambda place: abs(past.kept[place].time_s - time_s))


def first_warning(past: FrameHistory) -> int | None:
    """Place of the first frame with a finding of warning or above, in the first `OPENED_S`."""
    until_s = past.kept[0].time_s + OPENED_S
    early = takewhile(lambda each: each.time_s <= until_s, past.kept)
    return next((place for place, each in enumerate(early) if each.severity not in (None, "info")), None)


def opened_at(past: FrameHistory) -> int:
    """Place of the frame that a recording is opened at: its start shows an empty screen."""
    place = first_warning(past)
    return nearest(past, past.kept[0].time_s + VERDICT_S) if place is None else place


def spacing_s(past: FrameHistory, place: int) -> float:
    """From the frame before this one, gaps aside."""
    if place < 1:
        return 0.0
    here = past.kept[place]
    return here.time_s - past.kept[place - 1].time_s - here.gap_s


def frame_of(past: FrameHistory, place: int) -> Frame:
    """The frame at this place as it was, its history and curves as far as the newest frame still has them."""
    assert past.newest is not None
    if past.kept[place].number == past.newest.number:
        return past.newest
    frame = _decoder().decode(zlib.decompress(past.kept[place].packed))
    return _whole(frame, past.newest, past)


def _whole(frame: Frame, newest: Frame, past: FrameHistory) -> Frame:
    derived = frame.derived
    if derived.job is not None and newest.derived.job is not None:
        derived = structs.replace(derived, job=_with_shared(derived.job, newest.derived.job))
    trend = [each.derived for each in past.trend if each.node == frame.node] if past.is_recording else newest.history
    history = tuple(each for each in trend if derived.at_s - TRENDS_S <= each.at_s < derived.at_s)
    opened = frame.opened
    if opened is not None:
        later = newest.opened
        opened = _whole(opened, later if later is not None and later.node == opened.node else opened, past)
    return structs.replace(frame, derived=derived, history=(*history, derived), opened=opened)


def trends_s(frame: Frame) -> float:
    """How far its history reaches back."""
    return frame.derived.at_s - frame.history[0].at_s


def _is_due(older: Sequence[StoredFrame], last: StoredFrame) -> bool:
    """Large frames, as of jobs that flood their logs, are packed less often."""
    if last.is_turn or not older:
        return True
    return last.watched_s - older[-1].watched_s >= older[-1].size_bytes / _PACE_BYTES


def _packed(each: StoredFrame, frame: Frame) -> StoredFrame:
    packed = encoded(_bare(frame))
    return replace(each, packed=zlib.compress(packed, 1), size_bytes=len(packed))


def _mark(frame: Frame, before: Frame | None) -> StoredFrame:
    now = {finding.symptom: finding.severity for finding in frame.findings}
    then = {finding.symptom for finding in before.findings} if before is not None else set()
    passed_s = frame.derived.time_s - before.derived.time_s if before is not None else 0.0
    is_gap = passed_s > max(_GAP_LEAST_S, _GAP_INTERVALS * frame.derived.interval_s)
    return StoredFrame(
        number=frame.number,
        time_s=frame.derived.time_s,
        watched_s=frame.watched_s,
        severity=_gravest(list(now.values())),
        raised=_gravest([severity for symptom, severity in now.items() if symptom not in then]),
        has_cleared=bool(then - now.keys()),
        gap_s=passed_s if is_gap else 0.0,
    )


def _gravest(severities: Sequence[Severity]) -> Severity | None:
    return max(severities, key=gravity, default=None)


def _bare(frame: Frame) -> Frame:
    """Without what is put back from the newest frame; of curves and deep looks as much as says which."""
    derived: DerivedState = frame.derived
    if derived.job is not None:
        curves = tuple(structs.replace(curve, points=curve.points[-1:]) for curve in derived.job.metrics.curves)
        deep = tuple(structs.replace(dump, text="") for dump in derived.job.stacks.deep)
        derived = structs.replace(derived, job=_with(derived.job, curves, deep))
    opened = None if frame.opened is None else _bare(frame.opened)
    return structs.replace(frame, derived=derived, history=(), opened=opened)


def _with_shared(job: Job, newest: Job) -> Job:
    """With the points of its curves and the answers of its deep looks, as far as `newest` still has them."""
    points = {(curve.name, curve.source): curve.points for curve in newest.metrics.curves}
    curves = tuple(_up_to_last(curve, points.get((curve.name, curve.source), ())) for curve in job.metrics.curves)
    asked = {dump.request for dump in job.stacks.deep}
    return _with(job, curves, tuple(dump for dump in newest.stacks.deep if dump.request in asked))


def _with(job: Job, curves: tuple[Curve, ...], deep: tuple[DeepDump, ...]) -> Job:
    metrics, stacks = structs.replace(job.metrics, curves=curves), structs.replace(job.stacks, deep=deep)
    return structs.replace(job, metrics=metrics, stacks=stacks)


def _up_to_last(curve: Curve, points: Sequence[CurvePoint]) -> Curve:
    last_s = curve.points[-1].at_s
    return structs.replace(curve, points=tuple(point for point in points if point.at_s <= last_s) or curve.points)


def _with_trend(past: FrameHistory) -> FrameHistory:
    """With the states before the newest, which are without what only the newest needs (`hwtop.feed.assemble`)."""
    assert past.newest is not None
    if past.newest.number % past.trend_every:
        return past
    trend = past.trend
    for frame in (past.newest, past.newest.opened):
        if frame is None or len(frame.history) < 2:
            continue
        before = frame.history[-2]
        if not trend or trend[-1].derived is not before:  # a node may have sent nothing since
            trend = (*trend, Moment(frame.node, before))
    if len(trend) <= _MOST_TREND:
        return replace(past, trend=trend)
    return replace(past, trend=trend[::2], trend_every=2 * past.trend_every)


def _thinned(kept: list[StoredFrame], *, is_recording: bool) -> tuple[StoredFrame, ...]:
    """As many as there is room for. The first and the newest stay."""
    most_bytes, most = (MOST_OF_RECORDING_BYTES, MOST_OF_RECORDING) if is_recording else (MOST_BYTES, MOST)
    size = sum(len(each.packed) for each in kept)
    while len(kept) > 2 and (size > most_bytes or len(kept) > most):
        place = _closest(kept, is_recording=is_recording)
        gone = kept.pop(place)
        size -= len(gone.packed)
        if gone.gap_s > kept[place].gap_s:
            kept[place] = replace(kept[place], gap_s=gone.gap_s)
    return tuple(kept)


def _closest(kept: Sequence[StoredFrame], *, is_recording: bool) -> int:
    """Place of the frame that stands closest to its neighbours, for its age where it is not one of a recording."""
    now_s = kept[-1].watched_s
    best, place = float("inf"), 1
    for at in range(1, len(kept) - 1):
        each = kept[at]
        score = (kept[at + 1].watched_s - kept[at - 1].watched_s) / (
            1.0 if is_recording else max(1e-9, now_s - each.watched_s)
        )
        if each.is_turn:
            score *= _TURN
        if score < best:
            best, place = score, at
    return place
