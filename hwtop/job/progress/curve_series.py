"""Curve series: told values in order, thinned so that a run of any length stays in a bounded number of points."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping

from hwtop.model.curve import Curve, CurveName, CurvePoint

_KEPT_RECENT = 500
"""The newest points are all kept: what rules judge (engineering default)."""
_KEPT_BODY = 1_500
"""Of what is older as many at equal distances; with the newest that makes the 2,000 points of `Curve`."""


class CurveSeries:
    """Takes points in order of reading. What is old is thinned evenly over the whole run; values that are no numbers stay."""

    def __init__(self) -> None:
        self._recent: deque[CurvePoint] = deque()
        self._body: list[CurvePoint] = []
        self._stride = 1
        self._left = 0
        self._points: tuple[CurvePoint, ...] | None = ()
        self._fallen: CurvePoint | None = None

    def __len__(self) -> int:
        return len(self._body) + len(self._recent)

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """Oldest first."""
        if self._points is None:
            self._points = (*self._body, *self._recent)
        return self._points

    @property
    def newest(self) -> CurvePoint | None:
        """The last one taken."""
        return self._recent[-1] if self._recent else None

    def add(self, point: CurvePoint) -> None:
        """Take the newest point. A step behind the newest one is kept once the steps after it go on from there.

        Else it is a straggler: another rank that writes to the same file.
        """
        if self._fallen is not None and not self._goes_on(point, self._fallen):
            return
        if self._is_behind(point):
            self._fallen = point
        else:
            self._append(point)

    def _goes_on(self, point: CurvePoint, fallen: CurvePoint) -> bool:
        """What to do with the point that fell back, now that another one has come; False where that one says nothing new."""
        if point.step is None or fallen.step is None:
            return True
        if self._is_behind(point) and point.step <= fallen.step:
            self._fallen = point if point.step < fallen.step else fallen
            return False
        if self._is_behind(point):
            self._append(fallen)
        self._fallen = None
        return True

    def _is_behind(self, point: CurvePoint) -> bool:
        newest = self.newest
        return newest is not None and newest.step is not None and point.step is not None and point.step < newest.step

    def _append(self, point: CurvePoint) -> None:
        self._points = None
        self._recent.append(point)
        if len(self._recent) <= _KEPT_RECENT:
            return
        old = self._recent.popleft()
        if self._left % self._stride == 0 or not math.isfinite(old.value):
            self._body.append(old)
        self._left += 1
        if len(self._body) >= _KEPT_BODY:
            self._thin()

    def _thin(self) -> None:
        pairs = zip(self._body[::2], self._body[1::2], strict=False)
        self._body = [second if not math.isfinite(second.value) else first for first, second in pairs]
        self._stride *= 2


def curves_of(
    series: Mapping[CurveName, CurveSeries], throughput_unit: str, source: str, rank: int | None
) -> tuple[Curve, ...]:
    """All that one teller tells, one curve a quantity."""
    return tuple(
        Curve(
            name=name,
            unit=throughput_unit if name == "throughput" else "",
            source=source,
            rank=rank,
            points=reported.points,
        )
        for name, reported in series.items()
    )
