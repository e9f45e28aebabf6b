"""Metrics: which samples of a frame the exporters for monitoring systems share. `openmetrics.py` and `otlp.py` write them.

Names and units are those of the fields, in base units. There is no free text in labels, and each metric has at most `MOST_SAMPLES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from hwtop.fields.field import Field
from hwtop.fields.readings import readings
from hwtop.fields.registry import SUBJECTS
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import VerdictLevel
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.levels import identity_of

MOST_SAMPLES = 1024
"""Of one metric that are shown; how many were left out is a metric of its own."""
_LEFT_OUT = frozenset({"process", "core"})
"""Subjects without metrics: each new PID would be a new series, and cores are many."""
Labels = tuple[tuple[str, str], ...]


class Unit(NamedTuple):
    """A base unit, as each format writes it."""

    word: str
    """Of OpenMetrics, where it ends the name."""
    ucum: str
    """Of OTLP (https://ucum.org); in braces where UCUM has none."""


SECONDS = Unit("seconds", "s")
PER_SECOND = Unit("per_second", "1/s")
RATIO = Unit("ratio", "1")
CORES = Unit("cores", "{core}")
_UNITS = {
    "%": ("_pct", RATIO, 0.01),
    "B": ("_bytes", Unit("bytes", "By"), 1.0),
    "B/s": ("_bytes_per_s", Unit("bytes_per_second", "By/s"), 1.0),
    "1/s": ("_per_s", PER_SECOND, 1.0),
    "Mbit/s": ("_mbit_per_s", Unit("bits_per_second", "bit/s"), 1e6),
    "s": ("_s", SECONDS, 1.0),
    "ms": ("_ms", SECONDS, 0.001),
    "W": ("_w", Unit("watts", "W"), 1.0),
    "°C": ("_c", Unit("celsius", "Cel"), 1.0),
    "MHz": ("_mhz", Unit("hertz", "Hz"), 1e6),
    "cores": ("_cores", CORES, 1.0),
}
"""Unit of a field -> how its id ends, the base unit, and the factor to it."""


@dataclass(frozen=True)
class Metric:
    """Samples of one name. All are gauges: rates are derived by hwtop, and words and findings are 1."""

    name: str
    """Without the unit, in parts: "gpu.sm_clock"."""
    about: str
    unit: Unit | None = None
    samples: dict[Labels, float] = field(default_factory=dict)
    """Labels -> value: a scrape with two values of the same labels is refused as a whole."""


@dataclass(frozen=True)
class Metrics:
    """What is exported of one frame."""

    time_s: float
    host: str
    """Of the frame; over several nodes all their names."""
    shared: Mapping[str, str]
    """Labels of all samples: the job, and the node where it is one. Over several nodes, rows have that of their own."""
    metrics: tuple[Metric, ...]


def metrics_of(frame: Frame) -> Metrics:
    """All of them; the last one counts the samples that were left out."""
    found = _Collected()
    _add_about(found, frame)
    _add_findings(found, frame)
    for each, labels, value in readings(frame, (each for each in SUBJECTS if each.name not in _LEFT_OUT)):
        name, unit, factor = named(each)
        if isinstance(value, str):
            found.add(name, each.about, [({**labels, name.rpartition(".")[2]: value}, 1)])
        else:
            found.add(name, each.about, [(labels, value * factor)], unit)
    found.add("samples_left_out", "samples beyond the most of one metric", [({}, found.left_out)])
    return Metrics(frame.derived.time_s, visible(frame.derived.host), _shared(frame), tuple(found.metrics.values()))


def named(declared: Field[object]) -> tuple[str, Unit | None, float]:
    """Name, unit, and the factor to that unit: ("gpu.util", RATIO, 0.01)."""
    if declared.unit_name not in _UNITS:
        return declared.id, None, 1.0
    end, unit, factor = _UNITS[declared.unit_name]
    return declared.id.removesuffix(end), unit, factor


class _Collected:
    """Metrics by name and unit: memory is used in bytes and as a ratio."""

    def __init__(self) -> None:
        self.metrics: dict[tuple[str, Unit | None], Metric] = {}
        self.left_out = 0

    def add(
        self, name: str, about: str, samples: Iterable[tuple[Mapping[str, str], float]], unit: Unit | None = None
    ) -> None:
        """Samples of a metric, which may have some already."""
        found = self.metrics.setdefault((name, unit), Metric(name, about, unit)).samples
        for labels, value in samples:
            if len(found) < MOST_SAMPLES:
                found[tuple(labels.items())] = value
            else:
                self.left_out += 1


def _shared(frame: Frame) -> dict[str, str]:
    labels = {}
    if frame.derived.job is not None:
        labels["job_name"] = visible(identity_of(History(frame.history)).script)
        place = frame.derived.job.place
        if place is not None and place.slurm_job:
            labels["job_id"] = visible(place.slurm_job)
    return labels if frame.nodes else {**labels, "node": visible(frame.node or frame.derived.host)}


def _add_about(found: _Collected, frame: Frame) -> None:
    derived, job = frame.derived, frame.derived.job
    found.add("sample_timestamp", "when this was read", [({}, round(derived.time_s, 3))], SECONDS)
    if job is not None:
        found.add("job.ranks", "ranks of the job on this machine", [({}, len(job.ranks))])
        found.add("job.ended", "1 once the job has ended", [({}, int(job.ended_for_s is not None))])


def _add_findings(found: _Collected, frame: Frame) -> None:
    levels = (({"level": level}, int(level == frame.verdict.level)) for level in get_args(VerdictLevel))
    found.add("verdict", "1 for the level of the verdict", levels)
    severities = [finding.severity for finding in frame.findings]
    counts = (({"severity": severity}, severities.count(severity)) for severity in get_args(Severity))
    found.add("findings", "findings of each severity", counts)
    found.add("finding", "1 while the finding is raised; for each of its ranks, where it has some", _raised(frame))


def _raised(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
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
