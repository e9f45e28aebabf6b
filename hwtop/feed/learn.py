"""Learning: what a job is like while all is well is remembered, and told when the same job is watched again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hwtop import __version__
from hwtop.model.baseline import Baseline
from hwtop.model.frame import Frame, Moment
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import AT_LEAST
from hwtop.state import learned
from hwtop.symptoms.earlier import job_key, quickest, summary
from hwtop.symptoms.history import History

QUIET_S = 60.0
"""Without a finding of warning or above, before anything is remembered. Engineering default."""
AGAIN_S = 300.0
"""From one writing to the next."""
KNOWN_S = 5.0
"""From here on ranks and GPUs of the job are known. Engineering default."""

Load = Callable[[str], Sequence[Baseline]]
Save = Callable[[str, Baseline, Sequence[Baseline]], None]


class Learner:
    """Holds, for the job that is watched, its earlier runs and since when it has been quiet.

    Reading and writing may take for ever (a home on a dead mount): both are done in daemon threads that nobody waits for.
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
        """The best of the earlier runs; None while none is known."""
        return quickest(self._runs) if self._runs else None

    def advance(self, snapshot: Snapshot, frame: Frame) -> None:
        """See whether this is worth remembering. Returns at once."""
        now_s = frame.moment.at_s
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
        found = summary(_since(frame, since_s), __version__, frame.moment.at_s - since_s)
        if found is not None:
            self._saved_at_s = frame.moment.at_s
            _begin(lambda: self._save(key, found, runs))


def learner(is_wanted: bool) -> Learner | None:
    """One that remembers on this machine, if the person wants that."""
    return Learner(learned.load, learned.save) if is_wanted else None


def _since(frame: Frame, since_s: float) -> History:
    """What was seen from then on: moments, and steps that were told."""
    moments = [moment for moment in frame.history if moment.at_s >= since_s]
    return History([*moments[:-1], _told_since(moments[-1], since_s)])


def _told_since(moment: Moment, since_s: float) -> Moment:
    job = moment.job
    if job is None:
        return moment
    curves = (
        replace(curve, points=tuple(point for point in curve.points if not point.is_past and point.at_s >= since_s))
        for curve in job.curves
    )
    return replace(moment, job=replace(job, curves=tuple(curves)))


def _begin(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="hwtop-learn", daemon=True).start()
