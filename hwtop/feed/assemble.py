"""Snapshot in, Frame out: the one way to make a frame, live, replayed or remote."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from hwtop.collectors.logs.user_patterns import KnownPatterns
from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.derive.plan import plan_of
from hwtop.derive.state import StateBuilder
from hwtop.feed.sharing import share
from hwtop.job.patterns.registry import builtin
from hwtop.model.baseline import Baseline
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.plan import SamplingPlan, UserFocus
from hwtop.model.rank import Rank
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import Blind
from hwtop.symptoms.blind import blind_spots
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.own_patterns import own_rules, refused_ids
from hwtop.symptoms.questions import hypotheses
from hwtop.symptoms.records import Question
from hwtop.symptoms.result import Result
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import with_thresholds
from hwtop.symptoms.verdict import verdict_of

HISTORY_S = 600.0
"""Length of the history: the longest window of any rule (host-memory-leak)."""


class Assembler:
    """Derives, keeps the history and runs the rules. Holds all state between snapshots; uses neither clock nor machine."""

    def __init__(
        self,
        history_s: float = HISTORY_S,
        patterns: KnownPatterns | None = None,
        symptoms: SymptomConfig = EVERY_SYMPTOM,
    ) -> None:
        """`patterns`: the log patterns; None = the built-in ones. `symptoms`: the user's settings."""
        known = patterns or KnownPatterns(builtin())
        self._history_s = history_s
        self._builder = StateBuilder(known.registry)
        rules = (*with_thresholds(RULES, symptoms.thresholds), *own_rules(known.registry, RULES))
        self._judge = Judge((rule for rule in rules if rule.symptom not in symptoms.off), symptoms.quiet)
        problems = (*known.problems, *refused_ids(known.registry, RULES))
        self._problems = tuple(Blind(source="log patterns", reason=problem) for problem in problems)
        self._derived: deque[DerivedState] = deque()
        self._gradual: dict[Question, Result] = {}
        self._number = 0
        self.earlier: Baseline | None = None
        """Medians of an earlier run of this job; the learner may set it at any time."""
        self._began_at_s: float | None = None

    def advance(self, snapshot: Snapshot) -> Frame:
        """The frame of this snapshot. Snapshots come in order of time."""
        derived = self._builder.advance(snapshot)
        self._remember(derived)
        if self._began_at_s is None:
            self._began_at_s = derived.at_s
        watched_s = derived.at_s - self._began_at_s
        history = History(tuple(self._derived), self.earlier)
        findings = self._judge.advance(history, watched_s)
        if self._judge.is_thorough:
            self._gradual.clear()
        self._number += 1
        episodes = self._judge.episodes()
        verdict = verdict_of(derived, findings, watched_s, self._judge.before_signal, episodes)
        return Frame(
            number=self._number,
            derived=derived,
            history=tuple(self._derived),
            verdict=verdict,
            findings=findings,
            blind=(*blind_spots(derived, watched_s), *self._problems, *self._judge.failures),
            watched_s=watched_s,
            hypotheses=hypotheses(history, findings, self._gradual),
            episodes=episodes,
            is_calm=self._judge.is_calm and (verdict.level in ("ok", "ended") or derived.candidates is not None),
        )

    def set_plan(self, user_focus: UserFocus) -> SamplingPlan | None:
        """What to sample next, from the newest derived state and from what the user looks at."""
        return plan_of(self._derived[-1], user_focus) if self._derived else None

    def _remember(self, derived: DerivedState) -> None:
        if self._derived:
            thin = _thinned(self._derived[-1])
            self._derived[-1] = share(self._derived[-2], thin) if len(self._derived) > 1 else thin
        self._derived.append(derived)
        while derived.at_s - self._derived[0].at_s > self._history_s:
            self._derived.popleft()


def _thinned(derived: DerivedState) -> DerivedState:
    """Without what is only used of the newest state: six hundred copies of it would fill the memory."""
    late = tuple(replace(each, age_s=None, cost_ms=None) for each in derived.sources if each.reason is not None)
    derived, job = replace(derived, sources=late), derived.job
    if job is None:
        return derived
    thin = replace(
        job,
        ranks=tuple(map(_thinned_rank, job.ranks)),
        logs=replace(job.logs, files=(), lines=(), flagged_lines=()),
        metrics=replace(job.metrics, curves=()),
        stacks=replace(job.stacks, groups=(), flame=None, deep=()),
        ras=replace(job.ras, report=None),
        detail=None,
    )
    return replace(derived, job=thin)


def _thinned_rank(rank: Rank) -> Rank:
    return replace(
        rank,
        log=replace(rank.log, last_line=None),
        stack=replace(rank.stack, hot=(), hot_lines=(), grown=(), worker_hot=()),
    )
