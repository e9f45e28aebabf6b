"""Metrics as OpenMetrics text, which Prometheus scrapes (https://prometheus.io/docs/specs/om/open_metrics_spec/)."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop import __version__
from hwtop.model.frame import Frame
from hwtop.report.exports.metrics import Labels, Metric, Metrics, Unit, metrics_of

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def openmetrics(frame: Frame) -> str:
    """The text that answers a scrape."""
    found = metrics_of(frame)
    about = (("version", __version__), ("host", found.host))
    lines = ["# TYPE hwtop info", "# HELP hwtop this exporter", _line("hwtop_info", found, about, 1)]
    for metric in found.metrics:
        lines += _lines(metric, found)
    return "\n".join([*lines, "# EOF", ""])


def full_name(name: str, unit: Unit | None) -> str:
    """("gpu.sm_clock", hertz) -> "hwtop_gpu_sm_clock_hertz"."""
    return "_".join(("hwtop", *name.split("."), *([unit.word] if unit else ())))


def _lines(metric: Metric, found: Metrics) -> Iterator[str]:
    name = full_name(metric.name, metric.unit)
    yield f"# TYPE {name} gauge"
    if metric.unit is not None:
        yield f"# UNIT {name} {metric.unit.word}"
    yield f"# HELP {name} {_escaped(metric.about)}"
    for labels, value in metric.samples.items():
        yield _line(name, found, labels, value)


def _line(name: str, found: Metrics, labels: Labels, value: float) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in (*found.shared.items(), *labels))
    return f"{name}{{{pairs}}} {value:.13g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
