"""The finding under the cursor of the symptoms page, what there is to say of it, and when. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.rank_set import named
from hwtop.model.frame import Frame
from hwtop.model.symptom import Episode, Finding
from hwtop.seconds import clock
from hwtop.ui import marks
from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.view import View

_START_S = 3.0
"""What is seen so soon may have been there before hwtop. Engineering default."""


class Section(Struct, frozen=True):
    """Some sentences about a finding under one heading."""

    title: str
    texts: tuple[str, ...]
    is_numbered: bool = False
    is_quoted: bool = False
    """Text of the machine, as it was read."""


def selected(view: View) -> Finding | None:
    """The finding under the cursor; the weightiest where it has cleared meanwhile."""
    findings, symptom = view.frame.findings, view.state(SymptomsState).symptom
    return next((finding for finding in findings if finding.symptom == symptom), findings[0] if findings else None)


def place(view: View) -> int:
    """Of the selected finding among all."""
    here = selected(view)
    return view.frame.findings.index(here) if here else 0


def sections(finding: Finding) -> list[Section]:
    """All of it, in the order in which one reads it."""
    reported = [
        Section("Evidence", finding.evidence),
        Section("In the log", (finding.log_line,) if finding.log_line else (), is_quoted=True),
        Section("What to do now", finding.next_steps, is_numbered=True),
        Section("Verify", _new(finding, finding.test)),
        Section("Disproved if", _new(finding, finding.refuted_by)),
        Section("If that is not enough", _new(finding, *finding.escalate)),
        Section("Follows from it", finding.folded),
    ]
    return [section for section in reported if section.texts]


def _new(finding: Finding, *texts: str | None) -> tuple[str, ...]:
    """Without what a step says already."""
    return tuple(text for text in texts if text and not any(text in step for step in finding.next_steps))


def sentence(view: View) -> str:
    """The selected finding as text for a chat or an issue; without one, the verdict."""
    finding = selected(view)
    if finding is None:
        return view.frame.verdict.text
    _, word, _ = marks.SEVERITY[finding.severity]
    lines = [f"{word} {finding.symptom} ({', '.join(facts(view.frame, finding))})", finding.title]
    for section in sections(finding):
        lines.append(f"{section.title}:")
        lines += [
            f"{number}. {text}" if section.is_numbered else f"- {text}" for number, text in enumerate(section.texts, 1)
        ]
    return "\n".join(lines)


def facts(frame: Frame, finding: Finding) -> list[str]:
    """Its confidence, its class, the ranks it is about, and since when."""
    since_s = frame.watched_s - finding.first_seen_s
    reported = [f"confidence {finding.confidence:.0%}", finding.category, named(finding.ranks) if finding.ranks else ""]
    return [text for text in (*reported, f"seen for {units.duration(round(since_s))}") if text]


def kind(frame: Frame) -> str:
    """The class of the problem: performance, correctness or stability, and where all wait for each other, of which kind."""
    return ", ".join(filter(None, (frame.verdict.category, frame.verdict.stall)))


def times(frame: Frame, finding: Finding) -> Iterator[str]:
    """Each time that it was up, the newest last."""
    for episode in frame.episodes:
        if episode.symptom == finding.symptom:
            yield _time(frame, episode)


def _time(frame: Frame, episode: Episode) -> str:
    proof_s = episode.raised_s - episode.seen_s
    began = " as hwtop started (it may be older)" if episode.seen_s < _START_S else ""
    seen = f"first seen {clock_after(frame, episode.seen_s)}{began}"
    proven = f"proven {units.duration(round(proof_s))} later" if proof_s >= 0.5 else "proven at once"
    if episode.cleared_s is None:
        return f"{seen}, {proven}, still there"
    return f"{seen}, {proven}, gone at {clock_after(frame, episode.cleared_s)}"


def clock_after(frame: Frame, after_s: float) -> str:
    """The time of day so many seconds after hwtop began to watch."""
    return clock(frame.derived.time_s - frame.watched_s + after_s)
