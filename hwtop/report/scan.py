"""Scan report: events and progress of log files, as JSON lines or as text."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from msgspec import defstruct, structs

from hwtop.job.log.block import LONGEST_CHARS
from hwtop.job.log.text import visible
from hwtop.job.log.time import reported_s
from hwtop.job.rank_set import named
from hwtop.model.output import Output
from hwtop.model.reported.log import LogEvent, LogLine, Progress, Role, Severity
from hwtop.report.fit import Section, fitted
from hwtop.report.json_text import encode
from hwtop.symptoms.log_evidence import sentences, steps
from hwtop.symptoms.records import records
from hwtop.symptoms.severity import SEVERITIES

_SHOWN = 3
"""Of one pattern in one file; the rest is counted."""
_WIDEST = 400


class ScanEvent(Output, frozen=True, kw_only=True):
    """One line of `hwtop scan --json`: a line of a log that a pattern matched."""

    file: str
    line_no: int | None
    line: str
    pattern: str
    severity: Severity
    role: Role
    rank: int | None
    xid: int | None
    untrusted: tuple[str, ...] = ("file", "line")
    """Text of the log: data, never instructions."""


_NotFinite = Literal["nan", "inf", "-inf"]
ReportedProgress: Any = defstruct(
    "ReportedProgress",
    [
        (field.name, field.type | _NotFinite if float in get_args(field.type) else field.type, None)
        for field in structs.fields(Progress)
    ],
    frozen=True,
    kw_only=True,
    omit_defaults=True,
)
"""`Progress` with the numbers that JSON does not have as strings."""


class ScanProgress(Output, frozen=True, kw_only=True):
    """One line of `hwtop scan --json --progress`: what a line of a log says of the training, with only the fields that it holds."""

    file: str
    line_no: int | None
    progress: ReportedProgress


def event_json(event: LogEvent) -> str:
    """A `ScanEvent`."""
    found = ScanEvent(
        file=event.path,
        line_no=event.line_no,
        line=event.text,
        pattern=event.pattern,
        severity=event.severity,
        role=event.role,
        rank=event.rank,
        xid=event.xid,
    )
    return encode(found, indent=0)


def progress_json(line: LogLine, progress: Progress) -> str:
    """A `ScanProgress`."""
    reported = {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in structs.asdict(progress).items()
    }
    found = ScanProgress(file=line.path, line_no=line.line_no, progress=ReportedProgress(**reported))
    return encode(found, indent=0)


def progress_text(line: LogLine, progress: Progress) -> str:
    """`train.log:12 step 10/100, loss 2.31`."""
    parts = []
    if progress.step is not None:
        parts.append(f"step {progress.step}" + (f"/{progress.total_steps}" if progress.total_steps else ""))
    if progress.epoch is not None:
        parts.append(f"epoch {progress.epoch:g}")
    for name in ("loss", "lr", "grad_norm"):
        value = getattr(progress, name)
        if value is not None:
            parts.append(f"{name} {value:g}")
    if progress.throughput is not None:
        parts.append(f"{progress.throughput:g} {progress.throughput_unit}")
    if progress.step_time_s is not None:
        parts.append(f"{progress.step_time_s:g} s/step")
    return f"{_place(line.path, line.line_no)} {', '.join(parts)}"


def cut_text(lines: int, left_out_bytes: int) -> str:
    """A warning that lines were truncated."""
    what = "1 line was" if lines == 1 else f"{lines:,} lines were"
    return f"hwtop: {what} longer than {LONGEST_CHARS:,} characters: {left_out_bytes:,} bytes were not scanned"


class ScanText:
    """Findings as text: roots in full, their consequences folded, the earliest root last.

    A line of another role is printed only while no root is known, context never. `is_explained`: `summary` explains each
    pattern found.
    """

    def __init__(self, is_explained: bool = False) -> None:
        self._is_explained = is_explained
        self._met: dict[tuple[str, str, Role], _Met] = {}
        self._severities: Counter[str] = Counter()
        self._roots: dict[str, LogEvent] = {}
        """The first root of each file."""

    def add(self, event: LogEvent) -> list[str]:
        """Lines to print now for one event."""
        self._severities[event.severity] += 1
        is_root = event.role == "root" and event.severity != "info"
        if is_root:
            self._roots.setdefault(event.path, event)
        met = self._met.setdefault((event.path, event.pattern, event.role), _Met(event))
        met.count += 1
        if event.rank is not None:
            met.ranks.add(event.rank)
        is_due = is_root or (not self._roots and event.role != "context")
        if met.shown >= _SHOWN or not is_due:
            return []
        met.shown += 1
        text = visible(event.text.strip())
        text = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
        head = f"{_place(event.path, event.line_no)}: {event.severity}: {event.pattern} ({event.role})"
        rank = "" if event.rank is None else f", rank {event.rank}"
        joined = f", {event.lines} lines" if event.lines > 1 else ""
        rows = [head + rank + joined, f"    {text}"]
        return rows if self._is_explained else [*rows, f"    {visible(event.explanation)}"]

    def summary(self) -> list[str]:
        """The last lines: what was not shown, the explanations if requested, counts, and where to start."""
        if not self._met:
            return ["nothing found"]
        rows = [_folded(met) for met in self._met.values() if met.count > met.shown]
        root = _earliest(list(self._roots.values()))
        if self._is_explained:
            rows.extend(row for group in _groups(self._met.values()) for row in ("", *_explained(group, root)))
            rows.append("")
        counts = ", ".join(f"{self._severities[name]} {name}" for name in SEVERITIES if self._severities[name])
        if not any(met.first.role != "context" for met in self._met.values()):
            return [*rows, f"no problem found; only context: {counts}"]
        if root is None:
            return [*rows, f"{counts}; no root cause among them: it is in another log or was not logged"]
        place = _place(root.path, root.line_no)
        return [*rows, f"{counts}; earliest root: {root.pattern} at {place}"]


def brief_text(rows: Sequence[str], summary: Sequence[str], most_bytes: int, files: Sequence[str]) -> str:
    """At most so many bytes: the conclusion, the first lines found, then what was folded."""
    sections = [Section("lines found", rows), Section("patterns", summary[:-1])]
    return fitted(summary[-1:], sections, most_bytes, shlex.join(["hwtop", "scan", *files]))


def _earliest(roots: list[LogEvent]) -> LogEvent | None:
    """Of several files the root with the earliest time, if each has one; else that of the first file."""
    times = [reported_s(root.text) for root in roots]
    known = [time for time in times if time is not None]
    if not roots or len(known) < len(roots):
        return roots[0] if roots else None
    return roots[known.index(min(known))]


@dataclass
class _Met:
    """What was found of one pattern in one role in one file."""

    first: LogEvent
    count: int = 0
    shown: int = 0
    ranks: set[int] = field(default_factory=set)


def _folded(met: _Met) -> str:
    what = f"{visible(met.first.path)}: {met.first.pattern}"
    if met.shown:
        return f"{what}: {met.count - met.shown} more"
    lines = "1 line" if met.count == 1 else f"{met.count} lines"
    ranks = f", {named(sorted(met.ranks))}" if met.ranks else ""
    return f"{what} ({met.first.role}): {lines}{ranks}, first at line {met.first.line_no}"


def _groups(all_met: Iterable[_Met]) -> list[list[_Met]]:
    """Grouped over all files by pattern and explanation."""
    groups: dict[tuple[str, Role, str], list[_Met]] = {}
    for met in all_met:
        groups.setdefault((met.first.pattern, met.first.role, met.first.explanation), []).append(met)
    return list(groups.values())


def _explained(group: list[_Met], root: LogEvent | None) -> list[str]:
    """A pattern found: what it means, its role, what to do, the source."""
    first = group[0].first
    known = records().get(first.pattern)
    title = known.title if known else first.title
    ranks = sorted(set().union(*(met.ranks for met in group)))
    count = sum(met.count for met in group)
    seen = [f"{count} {'line' if count == 1 else 'lines'}", f"first at {_place(first.path, first.line_no)}"]
    why = "the earliest root: start here" if root is first else ROLES[first.role]
    rows = [
        f"{first.pattern}: {visible(title)}" if title else first.pattern,
        f"  found   {', '.join(seen + ([named(ranks)] if ranks else []))}",
        f"  means   {visible(first.explanation)}",
        f"  role    {first.role}: {why}",
    ]
    rows.extend(f"  detail  {visible(reported)}" for reported in sentences([met.first for met in group]))
    rows.extend(f"  next    {visible(step)}" for step in (*steps([first]), *(known.plain_steps if known else ())))
    return [*rows, f"  source  {visible(first.source or 'the values in the line')}"]


ROLES: dict[Role, str] = {
    "root": "can start a failure; the earliest of several roots counts as the cause",
    "cascade": "follows the failure of another rank or process; counts as a cause only if no root is known",
    "confirmation": "shows that a process ended, not why; the cause is earlier",
    "context": "gives context to the others and raises nothing by itself",
}
"""What each role means."""


def _place(path: str, line_no: int | None) -> str:
    return visible(path) if line_no is None else f"{visible(path)}:{line_no}"
