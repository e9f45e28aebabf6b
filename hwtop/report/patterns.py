"""Pattern report: all log patterns as text and JSON, and the check of a pattern file of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from hwtop.job.log.text import visible
from hwtop.job.patterns.registry import Pattern, Registry
from hwtop.job.patterns.trial import Trial, slow_length
from hwtop.model.output import Output
from hwtop.model.reported.log import Role, Severity
from hwtop.report.scan import ROLES
from hwtop.symptoms.records import records
from hwtop.symptoms.severity import worst


class PatternObject(Output, frozen=True, kw_only=True):
    """One line of `hwtop patterns list --json` and `hwtop patterns show --json`."""

    id: str
    title: str | None
    severity: Severity
    role: Role
    explanation: str
    next_steps: tuple[str, ...]
    source: str | None
    literals: tuple[str, ...]
    regex: str | None
    unless: str | None
    groups: tuple[str, ...]
    """Names of the groups of the regex."""
    origin: str


def pattern_json(pattern: Pattern) -> str:
    """One JSON object per line."""
    known = records().get(pattern.id)
    found = PatternObject(
        id=pattern.id,
        title=known.title if known else pattern.title or None,
        severity=pattern.severity,
        role=pattern.role,
        explanation=pattern.explanation,
        next_steps=(*pattern.playbook, *(known.plain_steps if known else ())),
        source=pattern.source or None,
        literals=tuple(pattern.literals),
        regex=pattern.regex.pattern if pattern.regex else None,
        unless=pattern.unless.pattern if pattern.unless else None,
        groups=tuple(sorted(pattern.regex.groupindex)) if pattern.regex else (),
        origin=pattern.origin,
    )
    return msgspec.json.encode(found).decode()


def list_text(patterns: Iterable[Pattern]) -> list[str]:
    """One line per id: number of patterns, highest severity, title, roles."""
    ids: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        ids.setdefault(pattern.id, []).append(pattern)
    width = max(map(len, ids), default=0)
    lines = []
    for name, alike in sorted(ids.items()):
        severity = worst(pattern.severity for pattern in alike)
        roles = ", ".join(role for role in ROLES if role in {pattern.role for pattern in alike})
        own = ", your own" if any(pattern.is_own for pattern in alike) else ""
        lines.append(f"{name:{width}}  {len(alike):2}  {severity:8}  {_title(alike)[:58]:58}  {roles}{own}")
    return lines


def show_text(patterns: Sequence[Pattern], registry: Registry) -> list[str]:
    """All patterns of one id in full, then the next steps."""
    name = patterns[0].id
    lines = [f"{name}: {_title(patterns)}"]
    for pattern in patterns:
        lines += ["", f"  {pattern.severity}, {pattern.role}: {ROLES[pattern.role]}"]
        lines += [f"  means    {visible(pattern.explanation)}"]
        lines += [f"  literal  {literal}" for literal in map(visible, pattern.literals)]
        lines += [f"  regex    {visible(pattern.regex.pattern)}"] if pattern.regex else []
        lines += [f"  unless   {visible(pattern.unless.pattern)}"] if pattern.unless else []
        lines += [f"  next     {visible(step)}" for step in pattern.playbook]
        lines += [f"  source   {visible(pattern.source or '-')}", f"  file     {visible(pattern.origin)}"]
    if name == "xid":
        codes = sorted(registry.xids.items())
        lines.append("")
        for code, known in codes:
            lines += [f"  Xid {code}: {known.severity}, {known.role}: {known.meaning}"]
            lines += [f"    {known.whose}"] if known.whose else []
            lines += [f"    next: {known.action}"] if known.action else []
    if name in records():
        lines += ["", "next steps", *(f"  {step}" for step in records()[name].plain_steps)]
    return lines


def trial_text(registry: Registry, clock: Callable[[], float]) -> list[str]:
    """What the patterns of a file raise, and problems of the patterns themselves."""
    lines = []
    for pattern in registry.patterns:
        known = records().get(pattern.id)
        reported = f"symptom of hwtop: {known.title}" if known else f"your own: {pattern.title or pattern.explanation}"
        lines.append(f"{pattern.id}: {pattern.severity}, {pattern.role}; {visible(reported)}")
        lines += [
            f'  literal "{visible(literal)}" is short and matches too often: include more of the text around it'
            for literal in pattern.literals
            if len(literal) < _SHORT
        ]
        if (length := slow_length(pattern, clock)) is not None:
            lines.append(f"  its regex is slow on a line of {length:,} characters: use .{{0,300}} instead of .* and .+")
    return lines or ["no pattern found: each needs a [[pattern]] header"]


def trial_log_text(trial: Trial, registry: Registry) -> list[str]:
    """Problems of the patterns that a log shows, other than the matches."""
    lines = [
        f'{name}: literal "{visible(literal)}" is in {100 * count / trial.lines:.0f} % of the lines, each of which has to be checked:'
        " include more of the text around it"
        for name, literal, count in trial.common()
    ]
    for number, (count, first) in trial.unreached.items():
        lines.append(
            f"{registry.patterns[number].id}: its regex matches {count} lines that contain none of its literals and so are never"
            f" checked (the first: line {first}): add a literal"
        )
    return lines


_SHORT = 4
"""Characters; three letters occur in many words."""


def _title(patterns: Sequence[Pattern]) -> str:
    known = records().get(patterns[0].id)
    reported = known.title if known else next((pattern.title for pattern in patterns if pattern.title), "")
    return visible(reported or patterns[0].explanation)
