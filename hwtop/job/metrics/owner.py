"""Which of the metrics files in a folder are this job's: several jobs may work in one and the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hwtop.job.metrics.files import writer_pid
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.metrics import MetricsKind

_ALIVE_S = 120.0
"""A file written since is one of a run that goes on. Engineering default: loggers flush within that."""
_RANK = lazy_regex(r"rank([._=-]?)\d+", re.IGNORECASE)
_METRICS = "/metrics/"


class Found(NamedTuple):
    """A metrics file that was written since the job began."""

    path: str
    """As the job calls it."""
    kind: MetricsKind
    modified_s: float
    console: str | None = None
    """W&B's copy of what the run prints."""


class Owned(NamedTuple):
    """The files of one job."""

    files: list[Found]
    """Newest first."""
    doubtful: tuple[str, ...]
    """Folders of runs of which one may be this job's."""


def of_this_job(found: Sequence[Found], is_proven: Callable[[str], bool], now_s: float) -> Owned:
    """Files that are proven to be the job's (it has them open, its PID is in the name), and others where only one run is alive.

    A sweep starts many runs in one folder: whose a closed file is then nobody can tell, and a wrong owner would be a wrong alarm.
    """
    kept = [each for each in found if is_proven(each.path)]
    others: dict[MetricsKind, dict[str, list[Found]]] = {}
    for each in found:
        if not is_proven(each.path) and writer_pid(each.path) is None:
            others.setdefault(each.kind, {}).setdefault(run_of(each.path, each.kind), []).append(each)
    doubtful: list[str] = []
    for kind, runs in others.items():
        own = {run_of(each.path, kind) for each in found if each.kind == kind and is_proven(each.path)}
        if own:  # one that the job has not open lies beside one that it has, or belongs to another
            kept += [each for run, files in runs.items() if run in own for each in files]
            continue
        newest = {run: max(each.modified_s for each in files) for run, files in runs.items()}
        alive = [run for run, modified_s in newest.items() if now_s - modified_s < _ALIVE_S]
        if len(alive) > 1:
            doubtful += alive
        else:
            kept += runs[alive[0] if alive else max(newest, key=lambda run: newest[run])]
    return Owned(sorted(kept, key=lambda each: -each.modified_s), tuple(sorted(doubtful)))


def run_of(path: str, kind: MetricsKind) -> str:
    """The folder that stands for the run: files of several ranks in folders of their own are of one."""
    if kind == "mlflow":
        return path.partition(_METRICS)[0]
    folder = path.rpartition("/")[0]
    if kind in ("trainer-state", "wandb-summary"):
        folder = folder.rpartition("/")[0]
    return _RANK.sub("rank*", folder)
