"""The little statistics that rules need."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean


def share_at_least(share: float, samples: int, z: float = 1.64) -> float:
    """Lower end of the 90 % Wilson score interval of a share: what few samples can prove.

    8 of 20 samples prove 24 %, 4 of 10 prove 19 %. (Wilson 1927; 5 % one-sided error.)
    """
    if samples <= 0:
        return 0.0
    square = z * z
    centre = share + square / (2 * samples)
    margin = z * sqrt(share * (1 - share) / samples + square / (4 * samples * samples))
    return max(0.0, (centre - margin) / (1 + square / samples))


def line_fit(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(slope, R squared) of the least-squares line through (x, y). (0, 0) for fewer than 3 points or equal x."""
    if len(points) < 3:
        return 0.0, 0.0
    mean_x = fmean(x for x, _ in points)
    mean_y = fmean(y for _, y in points)
    xx = sum((x - mean_x) ** 2 for x, _ in points)
    yy = sum((y - mean_y) ** 2 for _, y in points)
    if xx == 0 or yy == 0:
        return 0.0, 0.0
    xy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return xy / xx, xy * xy / (xx * yy)
