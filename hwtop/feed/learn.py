"""Learning: medians of a job without problems are stored, and compared when the same job is watched again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hwtop import __version__
from hwtop.model.baseline import Baseline
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import AT_LEAST
from hwtop.state import learned
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.earlier import job_key, quickest, summary

QUIET_S = 60.0
"""Without a finding of warning or above, before anything is stored. Engineering default."""
AGAIN_S = 300.0
"""From one write to the next."""
KNOWN_S = 5.0
"""When ranks and GPUs of the job are known. Engineering default."""

Load = Callable[[str], Sequence[Baseline]]
Save = Callable[[str, Baseline, Sequence[Baseline]], None]


class Learner:
    """Holds the earlier runs of the watched job, and since when it has had no problems.

    Reading and writing may block for ever (a home directory on a dead mount): both happen in daemon threads.
    """

    def __init__(self, load: Load, save: Save) -> None:
        """`load`: the runs under a key, oldest first. `save`: these, and a newer one."""
        self._load = load
        self._save = save
        self._key: str | None = None
        self._runs: Sequence[Baseline] | None = None
        self._quiet_since_s: float | None = None
        self._saved_at_s: float | None = None

    @property
    def earlier(self) -> Baseline | None:
        """The fastest of the earlier runs; None while none is known."""
        return quickest(self._runs) if self._runs else None

    def advance(self, snapshot: Snapshot, frame: Frame) -> None:
        """Store this run if it is due. Returns immediately."""
        now_s = frame.derived.at_s
        if frame.watched_s >= KNOWN_S:
            self._know(job_key(History(frame.history), snapshot.process.processes if snapshot.process else ()))
        grave = any(finding.severity in AT_LEAST["warning"] for finding in frame.findings)
        if grave or self._key is None:
            self._quiet_since_s = None
            return
        if self._quiet_since_s is None:
            self._quiet_since_s = now_s
        is_due = self._saved_at_s is None or now_s - self._saved_at_s >= AGAIN_S
        if now_s - self._quiet_since_s >= QUIET_S and is_due and self._runs is not None:
            self._remember(frame, self._key, self._runs, self._quiet_since_s)

    def _know(self, key: str | None) -> None:
        if key is None or key == self._key:
            return
        self._key, self._runs, self._saved_at_s = key, None, None

        def work() -> None:
            runs = self._load(key)
            if self._key == key:
                self._runs = runs

        _begin(work)

    def _remember(self, frame: Frame, key: str, runs: Sequence[Baseline], since_s: float) -> None:
        found = summary(_since(frame, since_s), __version__, frame.derived.at_s - since_s)
        if found is not None:
            self._saved_at_s = frame.derived.at_s
            _begin(lambda: self._save(key, found, runs))


def learner(is_wanted: bool) -> Learner | None:
    """One that stores on this machine, if the setting is on."""
    return Learner(learned.load, learned.save) if is_wanted else None


def _since(frame: Frame, since_s: float) -> History:
    """The history from then on, and the steps reported in it."""
    derived_states = [derived for derived in frame.history if derived.at_s >= since_s]
    return History([*derived_states[:-1], _reported_since(derived_states[-1], since_s)])


def _reported_since(derived: DerivedState, since_s: float) -> DerivedState:
    job = derived.job
    if job is None:
        return derived
    curves = (
        replace(curve, points=tuple(point for point in curve.points if not point.is_past and point.at_s >= since_s))
        for curve in job.metrics.curves
    )
    return replace(derived, job=replace(job, metrics=replace(job.metrics, curves=tuple(curves))))


def _begin(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="hwtop-learn", daemon=True).start()
