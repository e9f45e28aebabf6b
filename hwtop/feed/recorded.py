"""A recorded run, condensed to what two runs are compared by."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.errors import CannotError
from hwtop.feed.baseline import of_frame
from hwtop.feed.feed import frames
from hwtop.model.baseline import Baseline
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import Verdict
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.circumstances import circumstances


class RecordedRun(NamedTuple):
    """The last ten minutes in which ranks were alive, and the findings of the whole. None: not known of a baseline."""

    baseline: Baseline
    history: History | None
    circumstances: dict[str, str]
    symptoms: tuple[str, ...] | None
    """Raised at any time, in order of time."""
    verdict: Verdict
    """At the end."""


def baseline_run(baseline: Baseline) -> RecordedRun:
    """A run of which only the medians were saved."""
    return RecordedRun(baseline, None, {}, None, Verdict(level="unknown", text="a baseline holds no findings"))


def recorded_run(snapshots: Iterable[Snapshot], symptoms: SymptomConfig = EVERY_SYMPTOM) -> RecordedRun:
    """All rules run again.

    Raises:
        CannotError: no job was recorded.
    """
    newest: deque[Snapshot] = deque(maxlen=1)
    found: tuple[Frame, Snapshot] | None = None
    raised: dict[str, None] = {}
    for frame in frames(snapshots, symptoms=symptoms, store=newest.append):
        raised |= dict.fromkeys(episode.symptom for episode in frame.episodes)
        job = frame.derived.job
        if job is not None and (found is None or any(rank.is_alive for rank in job.ranks)):
            found = frame, newest[0]
    if found is None:
        raise CannotError("the recording holds no job: record one with hwtop record -o FILE PID")
    alive, snapshot = found
    return RecordedRun(
        of_frame(alive), History(alive.history), circumstances(snapshot, alive.derived), tuple(raised), frame.verdict
    )
