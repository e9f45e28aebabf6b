"""What the detection matrix came to: pure counting over what was said of each job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import msgspec

BINS = (0.0, 0.7, 0.8, 0.9, 1.01)


class Said(msgspec.Struct, frozen=True):
    """What hwtop said from one moment on, most important first."""

    at: float
    """Seconds since the epoch."""
    findings: tuple[dict[str, Any], ...]
    is_replay: bool = False
    """At the end, of what was recorded."""

    @property
    def serious(self) -> list[dict[str, Any]]:
        """Warnings and above."""
        return [each for each in self.findings if each["severity"] != "info"]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One job, and what was said of it."""

    name: str
    expected: str | None
    """None: a healthy job."""
    family: str
    top: str | None = None
    """The symptom that stood on top at the end; None: nothing of warning or above."""
    seconds: float | None = None
    """From the start of the look (or from the fault, where that came later) until the expected symptom stood on top to stay."""
    is_rank_right: bool | None = None
    """None: the job has no culprit, or it was not found."""
    false: tuple[str, ...] = ()
    """Titles of all other cards of warning or above at the end ("symptom: title"); of a healthy job, at any time."""
    passing: tuple[str, ...] = ()
    """The same, of those that were gone (or folded under the cause) at the end."""
    claims: tuple[tuple[float, bool], ...] = ()
    """Confidence of each symptom that was raised as a warning or above, and whether it is right."""
    is_replay_alike: bool | None = None
    """A replay of the watch ends with the same findings; None: not tried."""
    error: str | None = None
    """Why the job could not be judged."""

    @property
    def is_found(self) -> bool:
        return self.expected is not None and self.top == self.expected

    @property
    def is_good(self) -> bool:
        """Found with the right rank and nothing false beside it; or healthy and quiet."""
        is_right = self.expected is None or (self.is_found and self.is_rank_right is not False)
        return self.error is None and is_right and not self.false


def judge(
    name: str,
    family: str,
    expected: str | None,
    also: Sequence[str],
    ranks: tuple[int, ...] | None,
    fault_at: float,
    said: Sequence[Said],
) -> Outcome:
    """Compare what was said with what was planted."""
    right = {expected, *also}
    last = said[-1].serious
    top = last[0]["symptom"] if last else None
    newest = {each["symptom"]: each for derived in said for each in derived.serious}
    culprits = tuple(last[0]["ranks"]) if last else ()
    wrong = [each for each in newest.values() if each["symptom"] not in right]
    stays = {each["symptom"] for each in last} if expected is not None else newest.keys()
    return Outcome(
        name=name,
        expected=expected,
        family=family,
        top=top,
        seconds=_seconds(said, expected, fault_at) if top == expected is not None else None,
        is_rank_right=culprits == ranks if ranks is not None and top == expected else None,
        false=tuple(f"{each['symptom']}: {each['title']}" for each in wrong if each["symptom"] in stays),
        passing=tuple(f"{each['symptom']}: {each['title']}" for each in wrong if each["symptom"] not in stays),
        claims=tuple((each["confidence"], each["symptom"] in right) for each in newest.values()),
    )


def _seconds(said: Sequence[Said], expected: str, fault_at: float) -> float:
    """When the expected symptom came on top for good."""
    since = said[-1].at
    for derived in reversed(said):
        if not derived.serious or derived.serious[0]["symptom"] != expected:
            break
        since = derived.at
    return max(0.0, since - fault_at)


def line(outcome: Outcome) -> str:
    """One row of the table."""
    if outcome.error is not None:
        verdict, rank, seconds = "error", "-", "-"
    elif outcome.expected is None:
        verdict, rank, seconds = ("FALSE" if outcome.false else "quiet"), "-", "-"
    else:
        verdict = "found" if outcome.is_found else "MISSED" if outcome.top is None else "MISNAMED"
        rank = {None: "-", True: "right", False: "WRONG"}[outcome.is_rank_right]
        seconds = "-" if outcome.seconds is None else f"{outcome.seconds:.1f} s"
    row = f"{outcome.name:<30} {outcome.expected or 'nothing':<28} {verdict:<8} {rank:<6} {seconds:>7}"
    notes = [*([outcome.error] if outcome.error else []), *outcome.false]
    notes += [f"for a while only: {note}" for note in outcome.passing]
    return "\n".join([row, *(f"      {note}" for note in notes)])


def totals(outcomes: Sequence[Outcome]) -> str:
    """The end of the report."""
    faults = [each for each in outcomes if each.expected is not None]
    healthy = [each for each in outcomes if each.expected is None]
    found = [each for each in faults if each.is_found]
    ranked = [each for each in found if each.is_rank_right is not None]
    culprits = f"culprit right in {sum(each.is_rank_right is True for each in ranked)} of {len(ranked)}"
    beside = f"{sum(bool(each.false) for each in faults)} with another card of warning or above beside it"
    beside += f", {sum(bool(each.passing) for each in faults)} for a while only"
    lines = [
        f"faults    {len(found)} of {len(faults)} found, {culprits}, {beside}",
        f"healthy   {sum(bool(each.false) for each in healthy)} of {len(healthy)} raised a warning or above",
    ]
    replays = [each for each in outcomes if each.is_replay_alike is not None]
    if replays:
        other = [each.name for each in replays if not each.is_replay_alike]
        lines.append(
            f"replay    {len(replays) - len(other)} of {len(replays)} end with the same findings{': not ' * bool(other)}{', '.join(other)}"
        )
    errors = [each.name for each in outcomes if each.error is not None]
    if errors:
        lines.append(f"not run   {', '.join(errors)}")
    for title, some in (
        ("all", found),
        *((family, [each for each in found if each.family == family]) for family in sorted({f.family for f in found})),
    ):
        times = [each.seconds for each in some if each.seconds is not None]
        if times:
            lines.append(f"seconds   {title:<12} median {median(times):5.1f}, longest {max(times):5.1f} ({len(times)})")
    return "\n".join([*lines, *calibration(outcomes)])


def calibration(outcomes: Iterable[Outcome]) -> list[str]:
    """How often findings of a confidence are right."""
    claims = [claim for each in outcomes for claim in each.claims]
    lines = []
    for low, high in pairwise(BINS):
        some = [claim for claim in claims if low <= claim[0] < high]
        if some:
            mean, share = sum(p for p, _ in some) / len(some), sum(is_right for _, is_right in some) / len(some)
            lines.append(f"claimed   {mean:.0%} sure on average: right in {share:.0%} ({len(some)} findings)")
    return lines
