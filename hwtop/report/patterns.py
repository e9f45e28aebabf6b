"""Pattern report: what hwtop looks for in logs, as text and JSON, and what a file of the user's patterns would find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from hwtop.job.log.text import visible
from hwtop.job.patterns.registry import Pattern, Registry
from hwtop.job.patterns.trial import Trial, slow_length
from hwtop.report.scan import ROLES
from hwtop.symptoms.playbooks import playbooks


def pattern_json(pattern: Pattern) -> str:
    """One object a line."""
    known = playbooks().get(pattern.id)
    row: dict[str, Any] = {
        "id": pattern.id,
        "title": known.title if known else pattern.title or None,
        "severity": pattern.severity,
        "role": pattern.role,
        "explanation": pattern.explanation,
        "next_steps": [*pattern.playbook, *(known.steps if known else ())],
        "source": pattern.source or None,
        "literals": list(pattern.literals),
        "regex": pattern.regex.pattern if pattern.regex else None,
        "unless": pattern.unless.pattern if pattern.unless else None,
        "groups": sorted(pattern.regex.groupindex) if pattern.regex else [],
        "origin": pattern.origin,
    }
    return msgspec.json.encode(row).decode()


def list_text(patterns: Iterable[Pattern]) -> list[str]:
    """One line an id: how many patterns raise it, how bad, what it is, in which roles."""
    ids: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        ids.setdefault(pattern.id, []).append(pattern)
    width = max(map(len, ids), default=0)
    lines = []
    for name, alike in sorted(ids.items()):
        severities = {pattern.severity for pattern in alike}
        worst = next(level for level in ("critical", "warning", "info") if level in severities)
        roles = ", ".join(role for role in ROLES if role in {pattern.role for pattern in alike})
        own = ", your own" if any(pattern.is_own for pattern in alike) else ""
        lines.append(f"{name:{width}}  {len(alike):2}  {worst:8}  {_title(alike)[:58]:58}  {roles}{own}")
    return lines


def show_text(patterns: Sequence[Pattern], registry: Registry) -> list[str]:
    """All patterns of one id in full, then what to do."""
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
    if name in playbooks():
        lines += ["", "next steps", *(f"  {step}" for step in playbooks()[name].steps)]
    return lines


def trial_text(registry: Registry, clock: Callable[[], float]) -> list[str]:
    """What the patterns of a file raise, and what is wrong with them as they stand."""
    lines = []
    for pattern in registry.patterns:
        known = playbooks().get(pattern.id)
        told = f"symptom of hwtop: {known.title}" if known else f"your own: {pattern.title or pattern.explanation}"
        lines.append(f"{pattern.id}: {pattern.severity}, {pattern.role}; {visible(told)}")
        lines += [
            f'  literal "{visible(literal)}" is short: text is full of it; say more of what stands around it'
            for literal in pattern.literals
            if len(literal) < _SHORT
        ]
        if (length := slow_length(pattern, clock)) is not None:
            lines.append(f"  its regex is slow on a line of {length:,} characters: write .{{0,300}} for .* and .+")
    return lines or ["no pattern in it: it takes [[pattern]] before each"]


def trial_log_text(trial: Trial, registry: Registry) -> list[str]:
    """What a log tells of the patterns beyond the lines that they found."""
    lines = [
        f'{name}: literal "{visible(literal)}" stands in {count / trial.lines:.0%} of the lines, each of which costs a closer'
        " look: say more of what stands around it"
        for name, literal, count in trial.common()
    ]
    for number, (count, first) in trial.unreached.items():
        lines.append(
            f"{registry.patterns[number].id}: its regex matches {count} lines that hold none of its literals and are never"
            f" looked at, the first is line {first}: add a literal"
        )
    return lines


_SHORT = 4
"""Characters; three letters in a row stand in every other word."""


def _title(patterns: Sequence[Pattern]) -> str:
    known = playbooks().get(patterns[0].id)
    told = known.title if known else next((pattern.title for pattern in patterns if pattern.title), "")
    return visible(told or patterns[0].explanation)
