"""Attribution: what moved when the training became slower. Pure.

A quantity is named only where it moved within `NEAR_S` of the change, towards what slows, by more than its noise, has stayed
there, and never was as far at another time before: what had been there without slower steps does not explain them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from msgspec import Struct

from hwtop.model.evidence import SURE
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.level_shift import shift_at
from hwtop.symptoms.statistics import change_point
from hwtop.symptoms.training.changes import CHANGES, Change

NEAR_S = 30.0
"""Longest time between the two changes: pressure averages lag by 10 s, and logs report a step when it is over. Engineering
default."""
LOOK_S = 90.0
"""On either side of a change, the time in which one of another quantity is searched for. Engineering default."""
BLOCK_S = 3.0
"""Length of the means that are compared: single samples are noise, and many of these quantities are 0 or 1. Engineering
default."""
LEAST_BLOCKS = 4
"""Means on either side of a change. Engineering default."""


class Move(Struct, frozen=True):
    """A quantity that moved with the pace."""

    text: str
    """ "SM clock of GPU 3 from 1980 to 1200 MHz"."""
    clause: str
    """What happened, to be read after "when"; empty of what may as well be a consequence."""


class _Step(Struct, frozen=True):
    gpu: int | None
    before: float
    after: float


def moves(history: History, from_s: float, at_s: float, since_s: float | None = None) -> tuple[Move, ...]:
    """What moved with a change of the pace, nearest to the cause first.

    Args:
        from_s: the last value that was as before was told then.
        at_s: the first slow value was told then.
        since_s: begin of the steady state; earlier moments (imports, compilation, warm-up) are not compared with.
    """
    found = []
    derived_states = [derived for derived in history.derived_states if since_s is None or derived.at_s >= since_s]
    for change in CHANGES:
        series: dict[int | None, list[tuple[float, float]]] = {}
        for derived in derived_states:
            for gpu, value in change.values(derived).items():
                series.setdefault(gpu, []).append((derived.at_s, value))
        steps = [step for gpu, points in series.items() if (step := _step(change, gpu, points, from_s, at_s))]
        if steps:
            found.append(_move(change, steps))
    return tuple(found)


def _step(
    change: Change, gpu: int | None, points: Sequence[tuple[float, float]], from_s: float, at_s: float
) -> _Step | None:
    times, values = _blocks(points, at_s)
    near = [index for index, time_s in enumerate(times) if from_s - LOOK_S <= time_s <= at_s + LOOK_S]
    if len(near) < 2 * LEAST_BLOCKS:
        return None
    begin, end = near[0], near[-1] + 1
    place, score = change_point(values[begin:end], LEAST_BLOCKS)
    at = begin + place
    if abs(score) < SURE:
        return None
    sign = change.sign or (1 if median(values[at:end]) > median(values[begin:at]) else -1)
    shift = shift_at([sign * value for value in values], at, abs(score), SURE, slice(begin, end))
    if shift is None or shift.after - shift.before < max(change.least, change.least_share * abs(shift.before)):
        return None
    half = (shift.before + shift.after) / 2
    first = next(index for index in range(at, end) if sign * values[index] >= half)
    is_near = from_s - NEAR_S <= times[first] <= at_s + NEAR_S
    is_held = sign * median(values[-LEAST_BLOCKS:]) >= half
    return _Step(gpu, sign * shift.before, sign * shift.after) if is_near and is_held else None


def _blocks(points: Sequence[tuple[float, float]], at_s: float) -> tuple[list[float], list[float]]:
    """Begin and mean of each stretch of `BLOCK_S`; one of them begins at `at_s`."""
    held: dict[int, list[float]] = {}
    for time_s, value in points:
        held.setdefault(int((time_s - at_s) // BLOCK_S), []).append(value)
    return [at_s + number * BLOCK_S for number in held], [fmean(values) for values in held.values()]


def _move(change: Change, steps: Sequence[_Step]) -> Move:
    gpus = [step.gpu for step in steps if step.gpu is not None]
    whose = named_gpus(gpus) if gpus else ""
    was, now = median(step.before for step in steps), median(step.after for step in steps)
    shown = f"from {was:.{change.digits}f} to {now:.{change.digits}f} {change.unit}".rstrip()
    name = f"{change.name} of {whose}" if whose else change.name
    return Move(f"{name} {shown}", change.clause.format(gpus=whose, shown=shown))
