"""FleetReading in, Frame out: the one way to make a frame of a job over several nodes, live or replayed. No clock, no machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.feed.assemble import Assembler
from hwtop.fleet.merge import Merger, heard
from hwtop.fleet.places import first_failure, placed
from hwtop.fleet.rules import fleet_rules, of_nodes_rule
from hwtop.job.hang.liveness import STANDSTILL_S
from hwtop.job.stacks.outlier_vote import ROUNDS, outliers, vote
from hwtop.model.fleet import FleetReading, Node
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.job import Job
from hwtop.model.symptom import Finding, Verdict
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import with_thresholds
from hwtop.symptoms.verdict import verdict_of

_HISTORY_S = STANDSTILL_S + 2.0
"""What the rules over all nodes look back on: the GPUs only. A job of 8,000 ranks fits into memory so."""
_ROUND_S = 3.0
"""From one round of stacks to the next, as on one machine. Engineering default."""
_MOST_UNKNOWN = 100
"""Symptoms that only an agent knows. Bounds what a node can make this process remember."""


class FleetAssembler:
    """Merges, keeps what the rules look back on, and judges."""

    def __init__(self, symptoms: SymptomConfig = EVERY_SYMPTOM) -> None:
        """`symptoms`: the user's settings."""
        self._symptoms = symptoms
        rules = [rule for rule in with_thresholds(RULES, symptoms.thresholds) if rule.symptom not in symptoms.off]
        self._judge = Judge(fleet_rules(rules), symptoms.quiet)
        self._known = {rule.symptom for rule in RULES} | set(symptoms.off)
        self._merger = Merger()
        self._past: deque[DerivedState] = deque()
        self._rounds: deque[tuple[int, ...]] = deque(maxlen=ROUNDS)
        self._round_s = float("-inf")
        self._number = 0
        self._began_s: float | None = None
        self._focus: tuple[str, Assembler] | None = None
        self._opened: Frame | None = None
        """The newest frame of the node in focus, made of its whole Snapshots as on one machine; None without one."""

    def advance(self, reading: FleetReading) -> Frame:
        """The frame of this reading. They come in order of time."""
        self._follow_focus(reading)
        derived, blind = self._merger.merged(reading)
        derived = self._voted(derived)
        self._began_s = reading.at_s if self._began_s is None else self._began_s
        watched_s = reading.at_s - self._began_s
        self._learn(reading.nodes)
        history = History((*self._past, derived), nodes=reading.nodes)
        found = self._judge.advance(history, watched_s)
        findings = tuple(placed(finding, derived.job) for finding in found)
        findings = _with_the_first(findings, reading, derived.job)
        self._remember(derived)
        episodes = self._judge.episodes()
        verdict = verdict_of(derived, findings, watched_s, episodes=episodes)
        self._number += 1
        return Frame(
            number=self._number,
            derived=derived,
            history=(derived,),
            verdict=_verdict(verdict, reading.nodes),
            findings=findings,
            blind=(*blind, *self._judge.failures),
            watched_s=watched_s,
            episodes=episodes,
            opened=self._opened,
            nodes=reading.nodes,
        )

    def _follow_focus(self, reading: FleetReading) -> None:
        if reading.focus is None:
            self._focus = self._opened = None
            return
        if self._focus is None or self._focus[0] != reading.focus:
            self._focus, self._opened = (reading.focus, Assembler(symptoms=self._symptoms)), None
        for snapshot in reading.snapshots:
            self._opened = replace(self._focus[1].advance(snapshot), node=reading.focus)

    def _voted(self, derived: DerivedState) -> DerivedState:
        """With the rank that stood apart most often."""
        job = derived.job
        if job is None:
            return derived
        if derived.at_s - self._round_s >= _ROUND_S:
            self._rounds.append(outliers(job.stacks.groups) or ())
            self._round_s = derived.at_s
        stacks = replace(job.stacks, outlier_vote=vote(tuple(self._rounds)))
        return replace(derived, job=replace(job, stacks=stacks))

    def _learn(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for finding in node.report.findings if node.report is not None else ():
                if finding.symptom not in self._known and len(self._known) < len(RULES) + _MOST_UNKNOWN:
                    self._known.add(finding.symptom)
                    self._judge.also(of_nodes_rule(finding))

    def _remember(self, derived: DerivedState) -> None:
        self._past.append(replace(derived, job=None))
        while derived.at_s - self._past[0].at_s > _HISTORY_S:
            self._past.popleft()


def _with_the_first(findings: tuple[Finding, ...], reading: FleetReading, job: Job | None) -> tuple[Finding, ...]:
    """The gravest one also says on which node trouble began."""
    said = first_failure(reading.nodes, findings, job, reading.at_s)
    if said is None or findings[0].severity == "info":
        return findings
    return (replace(findings[0], evidence=(*findings[0].evidence, said)), *findings[1:])


def _verdict(verdict: Verdict, nodes: Sequence[Node]) -> Verdict:
    """One for the job; it says of how many nodes it knows nothing."""
    here, of = len(heard(nodes)), len(nodes)
    if here == of:
        return verdict
    text = f"{verdict.text} ({here} of {of} nodes report)"
    return replace(verdict, text=text, level="unknown" if here == 0 or verdict.level == "ok" else verdict.level)
