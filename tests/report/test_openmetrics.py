"""Metrics as Prometheus's own parser reads them, and the dashboard that shows them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from hwtop.fields.field import Field
from hwtop.fields.registry import FIELDS
from hwtop.model.frame import Frame
from hwtop.model.job import JobPlace
from hwtop.report.exports.metrics import MOST_SAMPLES, named
from hwtop.report.exports.openmetrics import full_name, openmetrics
from tests import fleets
from tests.docs.user_texts import ROOT
from tests.recording import replay

_SAMPLE = re.compile(r"^(\w+)\{(.*)\} (\S+)$", re.MULTILINE)
Samples = dict[str, list[tuple[dict[str, str], float]]]


@pytest.fixture(scope="module")
def frame() -> Frame:
    return replay("hang")[-1]


def samples(text: str) -> Samples:
    found: Samples = {}
    for name, labels, value in _SAMPLE.findall(text):
        found.setdefault(name, []).append((dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)), float(value)))
    return found


def test_the_parser_of_prometheus_reads_all_of_it(frame: Frame) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    text = openmetrics(frame)
    parsed = {
        sample.name: sample.value for each in parser.text_string_to_metric_families(text) for sample in each.samples
    }
    assert parsed.keys() == samples(text).keys()
    assert all(parsed[name] == each[-1][1] for name, each in samples(text).items())


def test_values_are_those_of_the_fields_in_base_units(frame: Frame) -> None:
    found = samples(openmetrics(frame))
    power = {labels["gpu"]: value for labels, value in found["hwtop_gpu_power_watts"]}
    assert power == pytest.approx({str(gpu.index): gpu.power_w for gpu in frame.derived.gpus})
    clock = [value for _, value in found["hwtop_gpu_sm_clock_hertz"]]
    assert clock == [1e6 * gpu.sm_clock_mhz for gpu in frame.derived.gpus if gpu.sm_clock_mhz]
    util_pct = frame.derived.cpu.util_pct if frame.derived.cpu else None
    assert util_pct is not None
    assert found["hwtop_cpu_util_ratio"][0][1] == pytest.approx(util_pct / 100)
    states = {labels["rank"]: labels["state"] for labels, _ in found["hwtop_rank_state"]}
    assert frame.derived.job is not None
    assert states == {str(rank.rank): rank.state for rank in frame.derived.job.ranks}


def test_findings_are_states_with_their_ranks(frame: Frame) -> None:
    found = samples(openmetrics(frame))
    raised = [labels for labels, value in found["hwtop_finding"] if value == 1]
    assert {"symptom": "rank-missing-from-collective", "severity": "critical", "rank": "5"}.items() <= raised[0].items()
    assert {labels["severity"]: value for labels, value in found["hwtop_findings"]}["critical"] == 1
    assert [labels["level"] for labels, value in found["hwtop_verdict"] if value] == ["critical"]
    well = samples(openmetrics(replace(frame, findings=())))
    assert "hwtop_finding" not in well
    assert {labels["severity"]: value for labels, value in well["hwtop_findings"]}["critical"] == 0


def test_samples_name_their_job_and_node(frame: Frame) -> None:
    assert frame.derived.job is not None
    job = replace(frame.derived.job, place=JobPlace(slurm_job="4711"))
    found = samples(openmetrics(replace(frame, derived=replace(frame.derived, job=job))))
    for name in ("hwtop_verdict", "hwtop_rank_step", "hwtop_gpu_power_watts", "hwtop_cpu_util_ratio"):
        labels, _ = found[name][0]
        assert {"job_id": "4711", "node": frame.derived.host}.items() <= labels.items()
        assert labels["job_name"]


def test_over_several_nodes_each_row_names_its_own() -> None:
    found = samples(openmetrics(fleets.sick(41)))
    ranks = {labels["rank"]: labels["node"] for labels, _ in found["hwtop_rank_step"]}
    assert ranks["21"] == "gpu-002"
    assert found["hwtop_finding"][0][0].items() >= {"symptom": "hang", "rank": "21", "node": "gpu-002"}.items()
    states = {labels["node"]: labels["status"] for labels, _ in found["hwtop_node_status"]}
    assert (states["gpu-017"], states["gpu-040"], len(states)) == ("lost", "failed", 41)
    assert "node" not in found["hwtop_verdict"][0][0]
    assert "gpu-017" not in {labels["node"] for labels, _ in found["hwtop_node_gpu_util_ratio"]}


def test_a_large_fleet_has_no_more_samples_of_a_metric_than_a_machine() -> None:
    found = samples(openmetrics(fleets.healthy(256)))
    assert len(found["hwtop_rank_step"]) == MOST_SAMPLES
    assert len(found["hwtop_node_status"]) == 256
    assert found["hwtop_samples_left_out"][0][1] > 0


def test_what_the_machine_chose_cannot_end_a_label(frame: Frame) -> None:
    mount = frame.derived.mounts[0]
    strange, plain = (replace(mount, mount_point=name) for name in ('/a"} 1\nhwtop_x{b="\\', "/a"))
    text, usual = (
        openmetrics(replace(frame, derived=replace(frame.derived, mounts=(one,)))) for one in (strange, plain)
    )
    assert len(text.split("\n")) == len(usual.split("\n"))
    (labels, _), *others = samples(text)["hwtop_mount_available_bytes"]
    assert labels["mountpoint"] == r"/a\"} 1␊hwtop_x{b=\"\\"
    assert others == []


def test_samples_are_bounded_and_none_is_there_twice(frame: Frame) -> None:
    mount = frame.derived.mounts[0]
    many = (mount, mount, *(replace(mount, mount_point=f"/{number}") for number in range(MOST_SAMPLES + 9)))
    found = samples(openmetrics(replace(frame, derived=replace(frame.derived, mounts=many))))
    shown = [labels["mountpoint"] for labels, _ in found["hwtop_mount_available_bytes"]]
    assert len(shown) == len(set(shown)) == MOST_SAMPLES
    assert found["hwtop_samples_left_out"][0][1] > 0


@pytest.mark.parametrize("field", FIELDS.values(), ids=lambda field: field.id)
def test_every_name_ends_with_its_unit(field: Field[Any]) -> None:
    short, unit, factor = named(field)
    name = full_name(short, unit)
    assert re.fullmatch(r"hwtop_[a-z0-9_]+", name)
    assert unit is None or name.endswith(f"_{unit.word}")
    assert not re.search(r"_(pct|s|ms|mhz|w|c)$|_per_s$", name)
    assert factor > 0
    assert (unit is None) == (not field.unit_name)


def test_the_dashboard_asks_for_metrics_that_exist(frame: Frame) -> None:
    text = (ROOT / "docs" / "grafana.json").read_text()
    asked = set(re.findall(r"hwtop_\w+", " ".join(re.findall(r'"(?:expr|query)": ("(?:[^"\\]|\\.)*")', text))))
    assert len(asked) > 10
    assert asked <= samples(openmetrics(frame)).keys() | samples(openmetrics(fleets.sick(4))).keys()
    panels = json.loads(text)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
