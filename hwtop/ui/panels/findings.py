"""Symptom cards: what is wrong, on what evidence, what to do next."""

from __future__ import annotations

from statistics import median

from hwtop.model.symptom import Finding
from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap

_DETAILS = 9
"""Most lines of detail of one card; the whole story is in `hwtop diagnose`."""


def wanted(view: View, width: int) -> int:
    """Rows for everything, frame included."""
    room = inner(width)
    cards = [_card(finding, room) for finding in view.frame.findings]
    return 2 + max(1, sum(map(len, cards))) + len(_blind(view, 2))


def least(view: View) -> int:
    """Rows for the first card with two lines of evidence and a step, or for the calm line."""
    return 6 + min(2, len(view.frame.findings) - 1) if view.frame.findings else 3


def draw(view: View, width: int, height: int) -> list[Line]:
    """The cards, the weightiest first and fullest."""
    findings = view.frame.findings
    room = inner(width)
    if not findings:
        lines = [_calm(view), *_blind(view, height - 3)]
        return box(lines, width, height, Line("Findings", "title"), Line("none", "dim"))
    cards = [_card(finding, room) for finding in findings]
    taken = _share([len(card) for card in cards], height - 2)
    lines = [line for card, count in zip(cards, taken, strict=True) for line in card[:count]]
    lines += _blind(view, height - 2 - len(lines))
    hidden = sum(count == 0 for count in taken)
    worst = marks.SEVERITY[findings[0].severity][2]
    note = Line(f"{len(findings)} found", worst).add(f", {hidden} not shown" if hidden else "", "dim")
    border = "border-hot" if findings[0].severity == "critical" else "border"
    return box(lines, width, height, Line("What is wrong", "title"), note, border)


def _share(sizes: list[int], room: int) -> list[int]:
    """How many lines of each card to show: all heads while the first card keeps three details, then the rest by rank."""
    taken = [0] * len(sizes)
    first_need = min(sizes[0], 4)
    heads = max(1, min(len(sizes), room - first_need + 1))
    for index in range(heads):
        taken[index] = 1
    left = room - heads
    for most in (4, 6, 1 + _DETAILS):
        for index in range(heads):
            more = max(0, min(min(sizes[index], most) - taken[index], left))
            taken[index] += more
            left -= more
    return taken


def _card(finding: Finding, width: int) -> list[Line]:
    glyph, word, role = marks.SEVERITY[finding.severity]
    ranks = f"rank{'s' if len(finding.ranks) > 1 else ''} {units.ranks(finding.ranks)}  " if finding.ranks else ""
    right = Line(f"  {ranks}", "accent").add(f"{finding.symptom}  sure {finding.confidence * 100:.0f}%", "dim")
    if right.width > width // 2:
        right = Line()
    head = Line(f"{glyph} {word:<8}  ", role).add(finding.title, "strong")
    lines = [head.fitted(width - right.width).extend(right)]
    evidence = [_wrapped("•", "dim", text, "text", width) for text in finding.evidence]
    steps = [_wrapped("→", "accent", text, "accent", width) for text in finding.next_steps]
    # Two facts, then the step: a card that is cut short still says what to do.
    for block in (*(b[:2] for b in evidence[:2]), *steps[:1], *evidence[2:], *steps[1:3]):
        lines += block
    if finding.log_line:
        lines += _wrapped("│", "dim", finding.log_line, "dim", width)[:1]
    if finding.folded:
        lines += _wrapped("·", "dim", "follows from it: " + ", ".join(finding.folded), "dim", width)[:1]
    return lines[: 1 + _DETAILS]


def _wrapped(mark: str, mark_role: str, text: str, role: str, width: int) -> list[Line]:
    indent = 4
    pieces = wrap(text, max(8, width - indent))
    return [
        Line(f"  {mark} " if not number else " " * indent, mark_role).add(piece, role)
        for number, piece in enumerate(pieces)
    ]


def _calm(view: View) -> Line:
    job = view.job
    watched = units.duration(view.frame.watched_s)
    if job is None:
        return Line("● ", "info").add("watching the machine; no job is attached", "text")
    if view.frame.verdict.level not in ("ok", "info"):
        return Line("◌ ", "dim").add(f"nothing found so far in {watched}", "text")
    line = Line("✔ ", "good").add(f"nothing wrong found in {watched}", "strong")
    times = [rank.step_time_s for rank in job.ranks if rank.step_time_s is not None]
    if times:
        line.add("   ").add(f"{units.step_time(median(times))} s/step", "text")
    steps = [rank.progress for rank in job.ranks if rank.progress and rank.progress.step is not None]
    if steps:
        newest = max(steps, key=lambda progress: progress.step or 0)
        total = f" of {units.count(newest.total_steps)}" if newest.total_steps else ""
        line.add(f"   step {units.count(newest.step)}{total}", "text")
    losses = [rank.progress.loss for rank in job.ranks if rank.progress and rank.progress.loss is not None]
    if losses:
        line.add(f"   loss {losses[0]:.4g}", "text")
    return line


def _blind(view: View, most: int) -> list[Line]:
    blind = [item for item in view.frame.blind if item.reason]
    if most <= 0 or not blind:
        return []
    lines = [Line("◌ ", "dim").add(f"not seen: {item.source}: {item.reason}", "dim") for item in blind[:most]]
    if len(blind) > most:
        lines[-1].add(f"  (and {len(blind) - most} more)", "dim")
    return lines
