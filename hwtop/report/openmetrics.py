"""A frame as OpenMetrics text, which Prometheus scrapes (https://prometheus.io/docs/specs/om/open_metrics_spec/).

Names and units are those of the fields, in base units. There is no free text in labels, and each metric has at most `MOST_SAMPLES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from hwtop import __version__
from hwtop.fields.field import Field
from hwtop.fields.readings import readings
from hwtop.fields.registry import SUBJECTS
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.model.log import Severity
from hwtop.model.symptom import VerdictLevel
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.levels import identity_of

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
MOST_SAMPLES = 1024
"""Of one metric that are shown; how many were left out is a metric of its own."""
_LEFT_OUT = frozenset({"process", "core"})
"""Subjects without metrics: each new PID would be a new series, and cores are many."""
_UNITS = {
    "%": ("pct", "ratio", 0.01),
    "B": ("bytes", "bytes", 1.0),
    "B/s": ("bytes_per_s", "bytes_per_second", 1.0),
    "1/s": ("per_s", "per_second", 1.0),
    "Mbit/s": ("mbit_per_s", "bits_per_second", 1e6),
    "s": ("s", "seconds", 1.0),
    "ms": ("ms", "seconds", 0.001),
    "W": ("w", "watts", 1.0),
    "°C": ("c", "celsius", 1.0),
    "MHz": ("mhz", "hertz", 1e6),
    "cores": ("cores", "cores", 1.0),
}
"""Unit of a field -> how its id ends, the base unit, and the factor to it."""
_Sample = tuple[Mapping[str, str], float]


class _Metrics:
    """What has been collected of one frame."""

    def __init__(self, shared: Mapping[str, str]) -> None:
        self._shared = shared
        self._heads: dict[str, list[str]] = {}
        self._samples: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
        """Name -> labels -> value: a scrape with two values of the same labels is refused as a whole."""
        self._left_out = 0

    def add(self, name: str, about: str, samples: Iterable[_Sample], *, unit: str = "", kind: str = "gauge") -> None:
        """Samples of a metric, which may have some already."""
        if name not in self._heads:
            units = [f"# UNIT {name} {unit}"] * bool(unit)
            self._heads[name] = [f"# TYPE {name} {kind}", *units, f"# HELP {name} {_escaped(about)}"]
        found = self._samples.setdefault(f"{name}_info" if kind == "info" else name, {})
        for labels, value in samples:
            if len(found) < MOST_SAMPLES:
                found[tuple(labels.items())] = value
            else:
                self._left_out += 1

    def text(self) -> str:
        """All of it."""
        self.add("hwtop_samples_left_out", "samples beyond the most of one metric", [({}, self._left_out)])
        lines = []
        for head, (name, samples) in zip(self._heads.values(), self._samples.items(), strict=True):
            lines += [*head, *(self._line(name, labels, value) for labels, value in samples.items())]
        return "\n".join([*lines, "# EOF", ""])

    def _line(self, name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in (*self._shared.items(), *labels))
        return f"{name}{{{pairs}}} {value:.13g}"


def openmetrics(frame: Frame) -> str:
    """The text that answers a scrape."""
    found = _Metrics(_shared(frame))
    _add_about(found, frame)
    _add_findings(found, frame)
    for field, labels, value in readings(frame, (each for each in SUBJECTS if each.name not in _LEFT_OUT)):
        name, unit, factor = metric_of(field)
        if isinstance(value, str):
            found.add(name, field.about, [({**labels, name.rpartition("_")[2]: value}, 1)])
        else:
            found.add(name, field.about, [(labels, value * factor)], unit=unit)
    return found.text()


def _shared(frame: Frame) -> dict[str, str]:
    """Labels of all samples: the job, and the node where it is one. Over several nodes, rows have that of their own."""
    labels = {}
    if frame.derived.job is not None:
        labels["job_name"] = visible(identity_of(History(frame.history)).script)
        place = frame.derived.job.place
        if place is not None and place.slurm_job:
            labels["job_id"] = visible(place.slurm_job)
    return labels if frame.nodes else {**labels, "node": visible(frame.node or frame.derived.host)}


def metric_of(field: Field[object]) -> tuple[str, str, float]:
    """Name, unit, and the factor to that unit: ("hwtop_gpu_util_ratio", "ratio", 0.01)."""
    name = f"hwtop_{field.id.replace('.', '_')}"
    if field.unit_name not in _UNITS:
        return name, "", 1.0
    end, unit, factor = _UNITS[field.unit_name]
    return name.removesuffix(end) + unit, unit, factor


def _add_about(found: _Metrics, frame: Frame) -> None:
    derived, job = frame.derived, frame.derived.job
    found.add("hwtop", "this exporter", [({"version": __version__, "host": visible(derived.host)}, 1)], kind="info")
    found.add("hwtop_sample_timestamp_seconds", "when this was read", [({}, round(derived.time_s, 3))], unit="seconds")
    if job is not None:
        found.add("hwtop_job_ranks", "ranks of the job on this machine", [({}, len(job.ranks))])
        found.add("hwtop_job_ended", "1 once the job has ended", [({}, int(job.ended_for_s is not None))])


def _add_findings(found: _Metrics, frame: Frame) -> None:
    levels = (({"level": level}, int(level == frame.verdict.level)) for level in get_args(VerdictLevel))
    found.add("hwtop_verdict", "1 for the level of the verdict", levels)
    severities = [finding.severity for finding in frame.findings]
    counts = (({"severity": severity}, severities.count(severity)) for severity in get_args(Severity))
    found.add("hwtop_findings", "findings of each severity", counts)
    found.add(
        "hwtop_finding", "1 while the finding is raised; for each of its ranks, where it has some", _raised(frame)
    )


def _raised(frame: Frame) -> Iterator[_Sample]:
    job = frame.derived.job if frame.nodes else None
    nodes = {rank.rank: rank.node for rank in job.ranks if rank.node} if job is not None else {}
    for finding in frame.findings:
        for rank in finding.ranks or (None,):
            labels = {
                "symptom": finding.symptom,
                "severity": finding.severity,
                "rank": "" if rank is None else str(rank),
            }
            yield labels | ({"node": visible(nodes[rank])} if rank in nodes else {}), 1


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
