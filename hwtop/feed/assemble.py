"""Snapshot in, Frame out: the one way in which a frame is made, live, replayed or remote."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from hwtop.collectors.user_patterns import KnownPatterns
from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.derive.aim import aim_of
from hwtop.derive.moment import MomentBuilder
from hwtop.job.patterns.registry import builtin
from hwtop.model.aim import Aim, Wish
from hwtop.model.baseline import Baseline
from hwtop.model.frame import Frame, Moment
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import Blind
from hwtop.symptoms.blind import blind_spots
from hwtop.symptoms.history import History
from hwtop.symptoms.hypotheses import hypotheses
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.own_patterns import own_rules, refused_ids
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import with_thresholds
from hwtop.symptoms.verdict import verdict_of

HISTORY_S = 600.0
"""How much is remembered: the longest window of any rule (host-memory-leak)."""


class Assembler:
    """Derives, remembers and judges. Holds all state between snapshots; knows neither clock nor machine."""

    def __init__(
        self,
        history_s: float = HISTORY_S,
        patterns: KnownPatterns | None = None,
        symptoms: SymptomConfig = EVERY_SYMPTOM,
    ) -> None:
        """`patterns`: what to look for in logs; None = what comes with hwtop. `symptoms`: which of them a person wants."""
        known = patterns or KnownPatterns(builtin())
        self._history_s = history_s
        self._builder = MomentBuilder(known.registry)
        rules = (*with_thresholds(RULES, symptoms.thresholds), *own_rules(known.registry, RULES))
        self._judge = Judge((rule for rule in rules if rule.symptom not in symptoms.off), symptoms.quiet)
        problems = (*known.problems, *refused_ids(known.registry, RULES))
        self._problems = tuple(Blind(source="log patterns", reason=problem) for problem in problems)
        self._moments: deque[Moment] = deque()
        self._number = 0
        self.earlier: Baseline | None = None
        """What an earlier run of this job was like; whoever knows may set it at any time."""
        self._began_at_s: float | None = None

    def advance(self, snapshot: Snapshot) -> Frame:
        """The frame of this snapshot. Snapshots come in order of time."""
        moment = self._builder.advance(snapshot)
        self._remember(moment)
        if self._began_at_s is None:
            self._began_at_s = moment.at_s
        watched_s = moment.at_s - self._began_at_s
        history = History(tuple(self._moments), self.earlier)
        findings = self._judge.advance(history, watched_s)
        self._number += 1
        return Frame(
            number=self._number,
            moment=moment,
            history=tuple(self._moments),
            verdict=verdict_of(moment, findings, watched_s),
            findings=findings,
            blind=(*blind_spots(moment), *self._problems, *self._judge.failures),
            watched_s=watched_s,
            hypotheses=hypotheses(history, findings),
            episodes=self._judge.episodes(),
        )

    def aim(self, wish: Wish) -> Aim | None:
        """Where the collectors should look next, judged by the newest moment and by what the person wants to see."""
        return aim_of(self._moments[-1], wish) if self._moments else None

    def _remember(self, moment: Moment) -> None:
        if self._moments:
            self._moments[-1] = _thinned(self._moments[-1])
        self._moments.append(moment)
        while moment.at_s - self._moments[0].at_s > self._history_s:
            self._moments.popleft()


def _thinned(moment: Moment) -> Moment:
    """Without what is only asked of the newest moment: six hundred copies of it would fill the memory."""
    job = moment.job
    if job is None:
        return moment
    thin = replace(job, lines=(), flagged_lines=(), curves=(), stack_groups=(), flame=None, deep=(), detail=None)
    return replace(moment, job=thin)
