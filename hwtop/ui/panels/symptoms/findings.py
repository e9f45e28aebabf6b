"""Symptom cards: what is wrong, on what evidence, what to do next."""

from __future__ import annotations

import re
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from hwtop.fields import units
from hwtop.job.rank_set import named
from hwtop.model.symptom import Finding
from hwtop.symptoms.severity import weightiest
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.table import ended_with
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.text import cells, elide_clauses, elide_end, wrap

_DETAILS = 9
"""Most lines of detail of one card; the whole story is in `hwtop diagnose`."""


_STEP = 2
"""The place of next steps in a card: after title and facts."""


class _Detail(Struct, frozen=True):
    """A line of a card; `order` is where it is read, its place in the list how much it is worth."""

    order: int
    line: Line
    is_start: bool = True
    alone: Line | None = None
    """In its place where no more of its sentence has room."""


def wanted(view: View, width: int) -> int:
    """Rows for everything, frame included."""
    room = inner(width)
    cards = _cards(view, room)
    return 2 + max(1, sum(map(len, cards))) + len(_ended(view, room)) + len(_blind(view, 2))


def least(view: View, width: int) -> int:
    """Rows for the first card down to its first step and the titles of two more, or for the calm line."""
    if not view.frame.findings:
        return 3 + len(_ended(view, inner(width)))
    return 2 + _need(_card(view, view.frame.findings[0], inner(width))) + min(2, len(view.frame.findings) - 1)


def draw(view: View, width: int, height: int) -> list[Line]:
    """The cards, the weightiest first and fullest."""
    findings = view.frame.findings
    room = inner(width)
    if not findings:
        lines = [_calm(view, room), *_ended(view, room)]
        lines += _blind(view, height - 2 - len(lines))
        over = sum(each.severity != "info" for each in view.frame.episodes)
        found = "none" if view.frame.verdict.level in ("ok", "ended") else "none proven yet"
        found = f"none now, {over} before" if over else found
        return box(lines, width, height, Line("Findings", "title"), Line(found, "dim"))
    cards = _cards(view, room)
    taken = _share(cards, height - 2)
    lines = [line for card, count in zip(cards, taken, strict=True) for line in _shown(card, count)]
    lines += _ended(view, room)[: max(0, height - 2 - len(lines))]
    lines += _blind(view, height - 2 - len(lines))
    hidden = sum(count == 0 for count in taken)
    worst = marks.SEVERITY[findings[0].severity][2]
    note = Line(f"{len(findings)} found", worst).add(f", {hidden} not shown" if hidden else "", "dim")
    border = "border-hot" if findings[0].severity == "critical" else "border"
    title = "Notes" if all(finding.severity == "info" for finding in findings) else "What is wrong"
    return box(lines, width, height, Line(title, "title"), note, border)


def place_at(view: View, y: int, width: int, height: int) -> int | None:
    """The place among all findings of the one whose card stands in row `y` of the panel."""
    cards = _cards(view, inner(width))
    rows = [place for place, count in enumerate(_share(cards, height - 2)) for _ in range(count)] if cards else []
    return rows[y - 1] if 1 <= y <= len(rows) else None


def _share(cards: list[list[_Detail]], room: int) -> list[int]:
    """How many details of each card to show: all titles while the first card keeps its first step, then by weight."""
    sizes = [len(card) for card in cards]
    taken = [0] * len(cards)
    heads = max(1, min(len(cards), room - _need(cards[0]) + 1))
    taken[:heads] = [1] * heads
    left = room - heads
    for limits in ([_need(card) for card in cards], sizes):
        for index in range(heads):
            more = max(0, min(limits[index] - taken[index], left))
            taken[index] += more
            left -= more
    return taken


def _need(card: list[_Detail]) -> int:
    """How many details it takes to see title, facts and what to do."""
    return next((index + 1 for index, detail in enumerate(card) if detail.order == _STEP), min(4, len(card)))


@once
def _cards(view: View, width: int) -> list[list[_Detail]]:
    """Of all findings; whole where they have the page."""
    cards = [_card(view, finding, width) for finding in view.frame.findings]
    return cards if view.alone == "findings" else [_cut(card, 1 + _DETAILS) for card in cards]


def _card(view: View, finding: Finding, width: int) -> list[_Detail]:
    """In the order in which lines are worth their room: two facts, then a step, so that a cut card says what to do."""
    first, *more = _head(finding, width)
    details = [_Detail(0, first, is_start=True, alone=_headline(finding, width))]
    details += [_Detail(0, line, is_start=False) for line in more]
    evidence = [_wrapped("•", "dim", text, "text", width, 1) for text in finding.evidence]
    steps = [_wrapped("→", "accent", _with_key(view, text), "accent", width, _STEP) for text in finding.next_steps]
    for block in (*evidence[:2], *steps[:1], *evidence[2:], *steps[1:]):
        details += block
    if finding.log_line:
        details += _wrapped("│", "dim", finding.log_line, "dim", width, 3)[:2]
    if finding.folded:
        details += _wrapped("·", "dim", "follows from it: " + ", ".join(finding.folded), "dim", width, 4)[:1]
    return details


def _with_key(view: View, step: str) -> str:
    """A command that prints what a page shows, behind the key of that page."""
    return f"press {key_names.first('stacks', view.keymap)}, or {step}" if step.startswith("hwtop stacks ") else step


def _head(finding: Finding, width: int) -> list[Line]:
    """The title is never cut for what stands beside it; a long one takes two lines and keeps its last clause."""
    glyph, word, role = marks.SEVERITY[finding.severity]
    ranks = f"  {named(finding.ranks)}" if finding.ranks else ""
    mark = Line(f"{glyph} {word:<8}  ", role)
    pieces = wrap(finding.title, max(8, width - mark.width))
    if len(pieces) > 1:
        pieces = wrap(finding.title, max(8, width - mark.width - 2))
    sides = (
        Line(ranks, "accent").add(f"  {finding.symptom}  confidence {finding.confidence * 100:.0f}%", "dim"),
        Line(ranks, "accent").add(f"  {finding.symptom}", "dim"),
        Line(ranks, "accent"),
        Line(),
    )
    head = Line().extend(mark).add(pieces[0] if pieces else "", "strong")
    side = next((side for side in sides if head.width + side.width <= width), Line())
    lines = [head.fitted(width - side.width).extend(side)]
    if len(pieces) > 1:
        rest = elide_clauses(" ".join(pieces[1:]), max(8, width - mark.width))
        lines.append(Line(" " * mark.width).add(rest, "strong"))
    return lines


def _headline(finding: Finding, width: int) -> Line:
    """The title in one row, where there is no second one."""
    glyph, word, role = marks.SEVERITY[finding.severity]
    line, ranks = Line(f"{glyph} {word:<8}  ", role), f"  {named(finding.ranks)}" if finding.ranks else ""
    room = width - line.width - cells(ranks)
    return (
        line.add(elide_clauses(finding.title, max(8, room)), "strong").fitted(width - cells(ranks)).add(ranks, "accent")
    )


def _shown(card: list[_Detail], count: int) -> list[Line]:
    """The first `count` details as they are read: facts, steps, the rest."""
    return [detail.line for detail in sorted(_cut(card, count), key=lambda detail: detail.order)]


def _cut(card: list[_Detail], count: int) -> list[_Detail]:
    """The first `count` details; a sentence that is cut says so."""
    kept = card[:count]
    if kept and count < len(card) and not card[count].is_start:
        cut = kept[-1]
        if cut.alone is not None:
            return [replace(cut, line=cut.alone)]
        kept[-1] = replace(cut, line=Line().extend(cut.line).add(" …", "dim"))
    return kept


def _wrapped(mark: str, mark_role: str, text: str, role: str, width: int, order: int) -> list[_Detail]:
    lines = wrapped((f"  {mark} ", mark_role), text, role, width - 2)
    return [_Detail(order, line, is_start=not number) for number, line in enumerate(lines)]


def _calm(view: View, width: int) -> Line:
    job = view.job
    watched = units.duration(view.frame.watched_s)
    if job is None:
        return Line("● ", "info").add("watching the machine; no job is attached", "text")
    if job.has_ended:
        was = weightiest(view.frame.episodes)
        has_failed = any(rank.exit_code not in (0, None) for rank in job.ranks)
        nothing = "what ended it is not known yet" if has_failed else f"nothing wrong was found in {watched}"
        what = f"before: {was.title}" if was else nothing
        return Line("■ ", "dim").add(f"the job has ended; {what}", "strong")
    verdict = view.frame.verdict
    if verdict.level == "ok":
        cleared = re.match("Nothing wrong found (for [^:;]+)", verdict.text)  # something was wrong before
        line = Line("✔ ", "good").add(f"nothing wrong found {cleared[1] if cleared else f'in {watched}'}", "strong")
    elif verdict.level == "info" and not verdict.text.startswith("Starting"):
        watch = "" if verdict.text.startswith("Nothing proven") else f"not proven yet, in {watched}: "
        return Line("◌ ", "info").add(elide_clauses(watch + verdict.text, width - 2), "text")
    else:
        line = Line("◌ ", "dim").add(f"nothing proven so far, in {watched}", "text")
    facts: list[str] = []
    times = [rank.progress.step_time_s for rank in job.ranks if rank.progress.step_time_s is not None]
    if times:
        facts.append(f"{units.step_time(median(times))} s/step")
    steps = [
        rank.progress.newest for rank in job.ranks if rank.progress.newest and rank.progress.newest.step is not None
    ]
    if steps:
        newest = max(steps, key=lambda progress: progress.step or 0)
        total = f" of {units.count(newest.total_steps)}" if newest.total_steps else ""
        facts.append(f"step {units.count(newest.step)}{total}")
    losses = [
        rank.progress.newest.loss
        for rank in job.ranks
        if rank.progress.newest and rank.progress.newest.loss is not None
    ]
    if losses:
        facts.append(f"loss {losses[0]:.4g}")
    for fact in facts:
        if line.width + 3 + len(fact) <= width:
            line.add(f"   {fact}", "text")
    return line


@once
def _ended(view: View, width: int) -> list[Line]:
    """Of a job that is over: how its ranks ended, and the last words of one that failed, else of the first."""
    job = view.job
    if job is None or not job.has_ended or not job.ranks:
        return []
    lines = []
    for code, ended in rank_view.ends(job)[:3]:
        mark = Line("■ ", "dim") if code in (0, None) else Line("✖ ", "bad")
        lines.append(mark.add(f"{named(rank.rank for rank in ended)}: {ended_with(code)}", "text"))
        lines += [
            Line("  │ ", "border").add(elide_end(word, max(8, width - 4)), "text" if code else "dim")
            for word in log_view.last_words(job, ended[0], 3 if code else 1)
        ]
    return lines


def _blind(view: View, most: int) -> list[Line]:
    reported = " ".join(text for finding in view.frame.findings for text in (finding.title, *finding.evidence))
    # The GPU panel has a row for each device, and a finding may be about just this.
    blind = [item for item in view.frame.blind if not item.source.startswith("gpu") and item.reason not in reported]
    if most <= 0 or not blind:
        return []
    lines = [
        Line("◌ ", "dim").add(f"not seen (hwtop doctor): {item.source}: {item.reason}", "dim") for item in blind[:most]
    ]
    if len(blind) > most:
        lines[-1].add(f"  (and {len(blind) - most} more not seen)", "dim")
    return lines
