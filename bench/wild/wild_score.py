"""What a set came to: pure counting over what hwtop said of each job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal, get_args

import msgspec
from wild_case import Case
from wild_look import Look, Report

sys.path.insert(0, str(Path(__file__).parents[1]))
from matrix_score import Outcome, calibration

Verdict = Literal["right", "partly", "missed", "quiet", "FALSE ALARM", "skipped", "not run"]
SERIOUS = {"warning", "critical"}


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One job, and how good what was said of it is."""

    name: str
    verdict: Verdict
    fault: str | None = None
    """What was planted; None: nothing."""
    accepted: tuple[str, ...] = ()
    ranks: tuple[int, ...] | None = None
    top: str | None = None
    """Symptom of the finding of warning or above on top; None: there is none."""
    top_ranks: tuple[int, ...] = ()
    said: str | None = None
    """Title of that finding, or hwtop's conclusion."""
    seconds: float | None = None
    """From the start of the look (or from the fault, where that came later) until that finding was raised to stay."""
    beside: tuple[str, ...] = ()
    """All other findings of warning or above that are not true of the job ("symptom: title")."""
    passing: tuple[str, ...] = ()
    """The same, of those that were gone at the end."""
    claims: tuple[tuple[float, bool], ...] = ()
    """Confidence of each finding of warning or above at the end, and whether it is right."""
    why: str | None = None
    """Why it could not be judged, or what else there is to know."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """A set in one line."""

    faults: int
    right: int
    partly: int
    missed: int
    healthy: int
    false_alarms: int
    median_s: float | None
    """Of the faults that were right or partly right."""


def judge(case: Case, look: Look) -> Judged:
    """Compare what was said with what was planted."""
    blank = unjudged(case, "missed" if case.fault else "quiet", None)
    if look.report is None:
        return msgspec.structs.replace(blank, why=f"hwtop could not say: {look.why}")
    report = look.report
    serious = [each for each in report.findings if each["severity"] in SERIOUS]
    true = {*case.symptoms, *case.also}
    shown = {each["symptom"] for each in serious}
    false = {f"{each['symptom']}: {each['title']}" for each in serious if each["symptom"] not in true}
    gone = {
        f"{each.symptom}: {each.title}"
        for each in report.episodes
        if each.severity in SERIOUS and each.raised_s is not None and each.symptom not in true | shown
    }
    top = serious[0] if serious else None
    ranks = tuple(sorted(top["ranks"])) if top else ()
    on_top = f"{top['symptom']}: {top['title']}" if top else None
    return msgspec.structs.replace(
        blank,
        verdict=_verdict(case, top, ranks) if case.fault else "FALSE ALARM" if false or gone else "quiet",
        top=top["symptom"] if top else None,
        top_ranks=ranks,
        said=top["title"] if top else report.verdict["text"],
        seconds=_seconds(report, top["symptom"], look.fault_s) if top else None,
        beside=tuple(sorted(false if case.fault is None else false - {on_top})),
        passing=tuple(sorted(gone)),
        claims=tuple((each["confidence"], _is_right(case, each)) for each in serious),
        why=f"hwtop does not know: {report.verdict['text']}" if report.verdict["level"] == "unknown" else None,
    )


def unjudged(case: Case, verdict: Verdict, why: str | None) -> Judged:
    """A case of which nothing was said."""
    fault = case.fault
    return Judged(name=case.name, verdict=verdict, fault=fault, accepted=case.symptoms, ranks=case.ranks, why=why)


def _verdict(case: Case, top: dict[str, Any] | None, ranks: tuple[int, ...]) -> Verdict:
    if top is None:
        return "missed"
    is_id, is_rank = top["symptom"] in case.symptoms, case.ranks is None or ranks == tuple(sorted(case.ranks))
    if is_id:
        return "right" if is_rank else "partly"
    return "partly" if case.ranks and is_rank else "missed"


def _is_right(case: Case, finding: dict[str, Any]) -> bool:
    """True of the job; the expected symptom with the right ranks too."""
    if finding["symptom"] in case.symptoms and case.ranks is not None:
        return sorted(finding["ranks"]) == sorted(case.ranks)
    return finding["symptom"] in {*case.symptoms, *case.also}


def _seconds(report: Report, symptom: str, fault_s: float) -> float | None:
    raised = [
        each.raised_s
        for each in report.episodes
        if each.symptom == symptom and each.raised_s is not None and each.cleared_s is None
    ]
    return max(0.0, min(raised) - fault_s) if raised else None


def line(judged: Judged) -> str:
    """One row of the table, and what else there is to say below it."""
    rank = "-"
    if judged.ranks is not None and judged.top in judged.accepted:
        rank = "WRONG" if judged.verdict == "partly" else "right"
    seconds = "-" if judged.seconds is None else f"{judged.seconds:.1f} s"
    expected = judged.accepted[0] if judged.accepted else "nothing"
    notes = [judged.why] if judged.why else []
    if judged.verdict in {"missed", "partly"}:
        notes += [f"planted: {judged.fault}", f"said: {judged.top or 'nothing'}: {judged.said}"]
    notes += judged.beside
    notes += [f"for a while only: {each}" for each in judged.passing]
    row = f"{judged.name:<34} {expected:<28} {judged.verdict:<11} {rank:<6} {seconds:>7}"
    return "\n".join([row, *(f"      {note}" for note in notes)])


def count(judged: Sequence[Judged]) -> Totals:
    """Cases that were skipped or not run count nowhere."""
    number = {verdict: sum(each.verdict == verdict for each in judged) for verdict in get_args(Verdict)}
    times = [each.seconds for each in judged if each.verdict in {"right", "partly"} and each.seconds is not None]
    return Totals(
        faults=number["right"] + number["partly"] + number["missed"],
        right=number["right"],
        partly=number["partly"],
        missed=number["missed"],
        healthy=number["quiet"] + number["FALSE ALARM"],
        false_alarms=number["FALSE ALARM"],
        median_s=median(times) if times else None,
    )


def totals(judged: Sequence[Judged]) -> str:
    """The end of the report."""
    sums = count(judged)
    lines = [
        f"faults    {sums.right} of {sums.faults} right, {sums.partly} partly, {sums.missed} missed",
        f"healthy   {sums.false_alarms} of {sums.healthy} raised a warning or above",
    ]
    if sums.median_s is not None:
        lines.append(f"seconds   median {sums.median_s:.1f} of the faults that were right or partly right")
    lines += [
        f"{verdict:<9} {', '.join(each.name for each in judged if each.verdict == verdict)}"
        for verdict in ("skipped", "not run")
        if any(each.verdict == verdict for each in judged)
    ]
    outcomes = [Outcome(name=each.name, expected=None, family="", claims=each.claims) for each in judged]
    pairs = sorted(claim for each in judged for claim in each.claims)
    lines += calibration(outcomes)
    lines.append("pairs     " + " ".join(f"{sure:.2f}{'+' if is_right else '-'}" for sure, is_right in pairs))
    return "\n".join(lines)
