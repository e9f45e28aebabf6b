"""The judge: runs the rules over the history, and decides when a symptom is raised and when it is cleared."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from hwtop.errors import internal_error
from hwtop.job.secrets import masked_text
from hwtop.model.evidence import REPEATED
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Blind, Episode, Finding
from hwtop.symptoms import own_signal
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.gpu.words import fit_to_vendors
from hwtop.symptoms.history import History
from hwtop.symptoms.host import capacity
from hwtop.symptoms.records import records
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.severity import SEVERITIES
from hwtop.symptoms.text import filled_all, fit_to_backend

_PID = re.compile(r"\bPID\b")
LESS_SURE = 0.75
"""Times its confidence: a finding that programs outside the job may explain. Engineering default."""
_SETTLED_S = 60.0
"""For so long after the watch began every rule is asked at each moment: a diagnosis of some seconds must find all. Engineering
default."""
GRADUAL_EVERY_S = 5.0
"""Gradual symptoms are evaluated so often, except those that are about to be raised: they show over a minute or more. Engineering
default."""
_KEPT_EPISODES = 200
"""Cleared ones that are remembered: a symptom that comes and goes must not fill the memory; engineering default."""


class _Watch(Struct):
    """What is remembered of one symptom between two moments."""

    since_s: float
    seen_s: float
    observation: Observation
    first_seen_s: float
    raised_s: float | None = None
    """Seconds after the watch began; None until it is raised."""

    returned: int = 0
    """How often it was raised so far, where it comes again and again."""

    @property
    def is_raised(self) -> bool:
        return self.raised_s is not None


class Judge:
    """Holds, for each rule, since when it has been observed. The rules themselves are pure."""

    def __init__(self, rules: Iterable[Rule] = RULES, quiet: Iterable[str] = ()) -> None:
        """`quiet`: symptoms that are told as notes only, however grave they are."""
        self._rules = tuple(rules)
        self._quiet = frozenset(quiet)
        self._watched: dict[str, _Watch] = {}
        self._cleared: deque[Episode] = deque(maxlen=_KEPT_EPISODES)
        self.before_signal: str | None = None
        """The worst finding when the user sent the signal that acts on the job now; None where there was none."""
        self._failed: dict[str, Blind] = {}
        self.is_thorough = True
        """At the newest moment every rule was asked, those for gradual symptoms too."""
        self._thorough_s = float("-inf")

    def advance(self, history: History, watched_s: float) -> tuple[Finding, ...]:
        """The findings of now: roots only, by severity, then in the order of the rules; cascades are folded into their root.

        Args:
            history: its last moment is now.
            watched_s: seconds since the watch began; becomes `first_seen_s` of what is seen for the first time.
        """
        now_s = history.now.at_s
        findings = []
        self.is_thorough = watched_s < _SETTLED_S or not 0 <= now_s - self._thorough_s < GRADUAL_EVERY_S
        if self.is_thorough:
            self._thorough_s = now_s
        for rule in self._rules:
            watch = self._watched.get(rule.symptom)
            if self.is_thorough or not rule.is_gradual or (watch is not None and not watch.is_raised):
                watch = self._observe(rule, history, now_s, watched_s)
            if watch is not None and watch.is_raised:
                severity = self._severity(rule.symptom, watch.observation)
                findings.append(_finding(rule, watch, severity, history))
        findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))  # stable: the rules' own order within
        folded = fold(findings)
        if own_signal.acting(history.job) is None:
            self.before_signal = next((finding.title for finding in folded if finding.severity != "info"), None)
        return folded

    @property
    def is_calm(self) -> bool:
        """Nothing is raised or about to be raised, but for notes."""
        return all(self._severity(symptom, watch.observation) == "info" for symptom, watch in self._watched.items())

    @property
    def failures(self) -> tuple[Blind, ...]:
        """Rules that failed when they were last asked: a mistake in one must not end the watch."""
        return tuple(self._failed.values())

    def also(self, rule: Rule) -> None:
        """Run this one from now on, after the others."""
        self._rules += (rule,)

    def episodes(self) -> tuple[Episode, ...]:
        """When symptoms were raised and cleared so far, in the order in which they were raised; those still up included."""
        up = [self._episode(symptom, watch) for symptom, watch in self._watched.items()]
        known = [*self._cleared, *(episode for episode in up if episode is not None)]
        return tuple(sorted(known, key=lambda episode: episode.raised_s))

    def _severity(self, symptom: str, seen: Observation) -> Severity:
        return "info" if symptom in self._quiet else seen.severity

    def _episode(self, symptom: str, watch: _Watch, cleared_s: float | None = None) -> Episode | None:
        if watch.raised_s is None:
            return None
        return Episode(
            symptom=symptom,
            severity=self._severity(symptom, watch.observation),
            title=watch.observation.title,
            seen_s=watch.first_seen_s,
            raised_s=watch.raised_s,
            cleared_s=cleared_s,
        )

    def _observe(self, rule: Rule, history: History, now_s: float, watched_s: float) -> _Watch | None:
        observation = self._check(rule, history)
        watch = self._watched.get(rule.symptom)
        if watch is None and rule.category == "stability" and own_signal.acting(history.job) is not None:
            return None  # the user did it
        if observation is None:
            clear_s = max(rule.clear_s, self._returns_within_s(rule.symptom, watch))
            if watch is not None and (not watch.is_raised or now_s - watch.seen_s >= clear_s):
                del self._watched[rule.symptom]
                if (episode := self._episode(rule.symptom, watch, watched_s)) is not None:
                    self._cleared.append(episode)
                return None
            return watch
        if watch is None:
            watch = _Watch(since_s=now_s, seen_s=now_s, observation=observation, first_seen_s=watched_s)
            self._watched[rule.symptom] = watch
        watch.seen_s = now_s
        if not (self._returns_within_s(rule.symptom, watch) and _is_graver(watch.observation, observation)):
            watch.observation = observation
        if not watch.is_raised and now_s - watch.since_s >= rule.raise_s:
            watch.raised_s = watched_s
        return watch

    def _returns_within_s(self, symptom: str, watch: _Watch | None) -> float:
        """What the log has told `REPEATED` times comes again: how long to wait for it before it is called over. 0: it does not."""
        if watch is None or watch.raised_s is None or (record := records().get(symptom)) is None or not record.log_line:
            return 0.0
        earlier = [each.raised_s for each in self._cleared if each.symptom == symptom and each.severity != "info"]
        raised = [*earlier, watch.raised_s]
        if len(raised) < REPEATED:
            return 0.0
        watch.returned = len(raised)
        return REPEATED * max(later - before for before, later in pairwise(raised[-REPEATED:]))

    def _check(self, rule: Rule, history: History) -> Observation | None:
        self._failed.pop(rule.symptom, None)
        try:
            return rule.look(history)
        except Exception as error:
            self._failed[rule.symptom] = Blind(source="hwtop", reason=internal_error(error, rule.symptom))
            return None


def _is_graver(first: Observation, second: Observation) -> bool:
    return SEVERITIES.index(first.severity) < SEVERITIES.index(second.severity)


def _less_sure(seen: Observation, taken: capacity.Outside) -> Observation:
    """Of ranks that do not get the cores that they may use: other programs may be why."""
    who = f" ({', '.join(taken.who)})" if taken.who else ""
    reason = f"programs outside the job use {taken.cores:.1f} of the {taken.of:g} cores that its ranks may use{who}: they may be the reason"
    return replace(seen, confidence=LESS_SURE * seen.confidence, evidence=(*seen.evidence, reason))


def _pid_of(seen: Observation, history: History) -> int | None:
    """The process that a step is best tried on: the first rank that the finding names, else the one that is watched."""
    job = history.job
    if job is None:
        return None
    return next((rank.pid for rank in job.ranks if rank.rank in seen.ranks), job.target_pid)


def _finding(rule: Rule, watch: _Watch, severity: Severity, history: History) -> Finding:
    seen, record = watch.observation, records().get(rule.symptom)
    if record is not None and record.needs_cpu and (taken := history.once(capacity.taken)) is not None:
        seen = _less_sure(seen, taken)
    pid = _pid_of(seen, history)
    facts = {"pid": "PID" if pid is None else pid, **seen.facts}

    def fit(lines: Sequence[str]) -> tuple[str, ...]:
        return fit_to_backend(fit_to_vendors(lines, history.now.gpus), history.job)

    evidence = tuple(line for line in seen.evidence if line != seen.title) or seen.evidence
    if watch.returned:
        evidence += (f"it has come back: {watch.returned} times so far",)
    return Finding(
        symptom=rule.symptom,
        severity=severity,
        confidence=round(seen.confidence, 2),
        category=rule.category,
        title=seen.title,
        evidence=evidence,
        next_steps=fit(tuple(_PID.sub(str(facts["pid"]), line) for line in seen.next_steps)),
        ranks=seen.ranks,
        first_seen_s=round(watch.first_seen_s, 1),
        log_line=seen.log_line and masked_text(seen.log_line),
        test=next(iter(fit(filled_all([record.verify], facts))), None) if record else None,
        refuted_by=next(iter(fit([record.disproved_if])), None) if record else None,
        escalate=fit(filled_all(record.escalate, facts)) if record else (),
    )
