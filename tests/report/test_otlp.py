"""Names and units of OTLP, and what Prometheus makes of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from hwtop.fields.field import Field
from hwtop.fields.registry import FIELDS
from hwtop.report.exports import openmetrics
from hwtop.report.exports.metrics import MOST_SAMPLES, metrics_of, named
from hwtop.report.exports.otlp import full_name, rejected, request
from tests import fleets

_WORDS = {"By": "bytes", "W": "watts", "Cel": "celsius", "Hz": "hertz", "s": "seconds", "1": ""}
"""Of https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/ and Prometheus's translator; others stay."""


def translated(name: str, unit: str) -> str:
    """The name of a gauge in Prometheus."""
    parts = re.split("[^a-zA-Z0-9]+", name)
    if unit == "1":
        return "_".join([*(part for part in parts if part != "ratio"), "ratio"])
    whole, _, per = re.sub(r"\{.*\}", "", unit).partition("/")
    words = [_WORDS.get(whole, whole)] if whole else []
    words += ["per", {"s": "second"}[per]] if per else []
    return "_".join([*parts, *(word for word in words if word)])


@pytest.mark.parametrize("field", FIELDS.values(), ids=lambda field: field.id)
def test_prometheus_makes_the_same_name_of_it(field: Field[Any]) -> None:
    name, unit, _ = named(field)
    expected = openmetrics.full_name(name, unit).replace("bits_per_second", "bit_per_second")
    assert translated(full_name(name, unit), unit.ucum if unit else "") == expected


def test_no_two_fields_have_one_name() -> None:
    assert len({full_name(*named(field)[:2]) for field in FIELDS.values()}) == len(FIELDS)


def test_a_large_fleet_is_bounded() -> None:
    message = ExportMetricsServiceRequest.FromString(request(metrics_of(fleets.healthy(256)), None, "x"))
    metrics = {metric.name: metric for metric in message.resource_metrics[0].scope_metrics[0].metrics}
    assert len(metrics["hwtop.rank.step"].gauge.data_points) == MOST_SAMPLES
    assert metrics["hwtop.samples_left_out"].gauge.data_points[0].as_double > 0


def test_an_answer_that_is_none_of_otlp() -> None:
    assert rejected(b"") == (0, "")
    with pytest.raises(ValueError, match="pars"):
        rejected(b"<html>")
