"""What every rate has in common: a counter that cannot have counted gives no rate.

For all of `hwtop.derive`: the first reading has no rates. A reading that is repeated because its source is stale (same
`at_s`) has none either; whoever calls keeps the rates of the last new reading, which are still the newest known, instead of
showing zeros. A counter that went backwards was reset or has wrapped: None, as how often is not known.
"""

from __future__ import annotations


def elapsed_s(previous_at_s: float, current_at_s: float) -> float | None:
    """Seconds between two readings; None when the second is not newer."""
    return current_at_s - previous_at_s if current_at_s > previous_at_s else None


def increase(previous: int | None, current: int | None) -> int | None:
    """How far a counter has counted; None when either value is unknown or it went backwards."""
    if previous is None or current is None or current < previous:
        return None
    return current - previous


def per_second(previous: int | None, current: int | None, seconds: float | None) -> float | None:
    """Increase of a counter per second over `seconds` (None as of `elapsed_s`)."""
    counted = increase(previous, current)
    return None if counted is None or seconds is None else counted / seconds
