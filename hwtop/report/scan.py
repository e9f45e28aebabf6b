"""Scan report: events and progress of log files, as JSON objects a line or as text."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import msgspec

from hwtop.job.log_text import visible
from hwtop.model.log import LogEvent, LogLine, Progress
from hwtop.report.json_report import plain

_SHOWN = 3
"""Of one pattern in one file; the rest is counted."""
_WIDEST = 400


def event_json(event: LogEvent) -> str:
    """One line of the contract: file, line_no, line, pattern, severity, role, rank, xid."""
    row = {
        "file": event.path,
        "line_no": event.line_no,
        "line": event.text,
        "pattern": event.pattern,
        "severity": event.severity,
        "role": event.role,
        "rank": event.rank,
        "xid": event.xid,
    }
    return msgspec.json.encode(plain(row)).decode()


def progress_json(line: LogLine, progress: Progress) -> str:
    """One line of the contract with only the fields that the line holds. JSON has no NaN: it is the string "nan" (or "inf")."""
    told: dict[str, Any] = {}
    for name in progress.__struct_fields__:
        value = getattr(progress, name)
        if isinstance(value, float) and not math.isfinite(value):
            told[name] = str(value)
        elif value is not None:
            told[name] = value
    row = {"file": line.path, "line_no": line.line_no, "progress": told}
    return msgspec.json.encode(plain(row)).decode()


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


class ScanText:
    """Findings as text for a person: each pattern's first lines in full, then how many more, then the earliest root."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._severities: Counter[str] = Counter()
        self._root: LogEvent | None = None

    def add(self, event: LogEvent) -> list[str]:
        """Lines to print now for one event."""
        self._severities[event.severity] += 1
        if self._root is None and event.role == "root" and event.severity != "info":
            self._root = event
        key = (event.path, event.pattern)
        self._seen[key] += 1
        if self._seen[key] > _SHOWN:
            return []
        text = visible(event.text.strip())
        text = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
        head = f"{_place(event.path, event.line_no)}: {event.severity}: {event.pattern} ({event.role})"
        rank = "" if event.rank is None else f", rank {event.rank}"
        return [head + rank, f"    {text}", f"    {visible(event.explanation)}"]

    def summary(self) -> list[str]:
        """The last lines: what was not shown, how many there are, and where to begin."""
        more = [
            f"{visible(path)}: {pattern}: {count - _SHOWN} more"
            for (path, pattern), count in self._seen.items()
            if count > _SHOWN
        ]
        if not self._seen:
            return ["nothing found"]
        counts = ", ".join(
            f"{self._severities[name]} {name}" for name in ("critical", "warning", "info") if self._severities[name]
        )
        if self._root is None:
            return [*more, f"{counts}; no root among them: it stands in another log or was not printed"]
        place = _place(self._root.path, self._root.line_no)
        return [*more, f"{counts}; earliest root: {self._root.pattern} at {place}"]


def _place(path: str, line_no: int | None) -> str:
    return visible(path) if line_no is None else f"{visible(path)}:{line_no}"
