"""The judge: runs the rules over the history, and decides when a symptom is raised and when it is cleared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from hwtop.model.symptom import Blind, Finding
from hwtop.symptoms.cascade import fold
from hwtop.symptoms.history import History
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.rules import RULES

_PID = re.compile(r"\bPID\b")
_SEVERITY = {"critical": 0, "warning": 1, "info": 2}


@dataclass
class _Watch:
    """What is remembered of one symptom between two moments."""

    since_s: float
    seen_s: float
    observation: Observation
    first_seen_s: float
    is_raised: bool = False


class Judge:
    """Holds, for each rule, since when it has been observed. The rules themselves are pure."""

    def __init__(self, rules: Iterable[Rule] = RULES, quiet: Iterable[str] = ()) -> None:
        """`quiet`: symptoms that are told as notes only, however grave they are."""
        self._rules = tuple(rules)
        self._quiet = frozenset(quiet)
        self._watched: dict[str, _Watch] = {}
        self.failures: tuple[Blind, ...] = ()
        """Rules that failed at the newest moment: a mistake in one must not end the watch."""

    def advance(self, history: History, watched_s: float) -> tuple[Finding, ...]:
        """The findings of now: roots only, by severity, then in the order of the rules; cascades are folded into their root.

        Args:
            history: its last moment is now.
            watched_s: seconds since the watch began; becomes `first_seen_s` of what is seen for the first time.
        """
        now_s = history.now.at_s
        findings = []
        self.failures = ()
        for rule in self._rules:
            watch = self._observe(rule, history, now_s, watched_s)
            if watch is not None and watch.is_raised:
                finding = _finding(rule, watch, _pid_of(watch.observation, history))
                findings.append(replace(finding, severity="info") if rule.symptom in self._quiet else finding)
        findings.sort(key=lambda finding: _SEVERITY[finding.severity])  # stable: the rules' own order within
        return fold(findings)

    def _observe(self, rule: Rule, history: History, now_s: float, watched_s: float) -> _Watch | None:
        observation = self._check(rule, history)
        watch = self._watched.get(rule.symptom)
        if observation is None:
            if watch is not None and (not watch.is_raised or now_s - watch.seen_s >= rule.clear_s):
                del self._watched[rule.symptom]
                return None
            return watch
        if watch is None:
            watch = _Watch(since_s=now_s, seen_s=now_s, observation=observation, first_seen_s=watched_s)
            self._watched[rule.symptom] = watch
        watch.seen_s, watch.observation = now_s, observation
        watch.is_raised = watch.is_raised or now_s - watch.since_s >= rule.raise_s
        return watch

    def _check(self, rule: Rule, history: History) -> Observation | None:
        try:
            return rule.check(history)
        except Exception as error:
            reason = f"internal error in {rule.symptom}: {type(error).__name__}: {error}"
            self.failures += (Blind(source="hwtop", reason=reason),)
            return None


def _pid_of(seen: Observation, history: History) -> int | None:
    """The process that a step is best tried on: the first rank that the finding names, else the one that is watched."""
    job = history.job
    if job is None:
        return None
    return next((rank.pid for rank in job.ranks if rank.rank in seen.ranks), job.target_pid)


def _finding(rule: Rule, watch: _Watch, pid: int | None) -> Finding:
    seen, book = watch.observation, playbooks().get(rule.symptom)

    def filled(step: str) -> str:
        return step if pid is None else _PID.sub(str(pid), step)

    return Finding(
        symptom=rule.symptom,
        severity=seen.severity,
        confidence=round(seen.confidence, 2),
        category=rule.category,
        title=seen.title,
        evidence=seen.evidence,
        next_steps=seen.next_steps,
        ranks=seen.ranks,
        first_seen_s=round(watch.first_seen_s, 1),
        log_line=seen.log_line,
        test=filled(book.test) if book else None,
        refuted_by=book.refuted_by if book else None,
        escalate=tuple(map(filled, book.escalate)) if book else (),
    )
