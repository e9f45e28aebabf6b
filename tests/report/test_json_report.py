from __future__ import annotations

import json
import math
from typing import Any

import pytest
from msgspec import Struct

from hwtop.model.frame import Frame
from hwtop.model.gpu.device import GpuRates
from hwtop.model.gpu.link import Topology
from hwtop.model.reported.log import Progress
from hwtop.model.symptom import AT_LEAST
from hwtop.report.frame.json_report import diagnosis, snapshot
from hwtop.report.json_text import LONGEST_TEXT, encode
from tests import frames
from tests.parts import replace

GPU = [
    "index",
    "vendor",
    "name",
    "uuid",
    "status",
    "reason",
    "util_pct",
    "mem_used_bytes",
    "mem_total_bytes",
    "power_w",
    "power_limit_w",
    "temp_c",
    "sm_clock_mhz",
    "throttle",
    "processes",
]
DISK_AND_NIC = {
    "disks": ("name", "read_bytes_per_s", "write_bytes_per_s", "busy_pct"),
    "nics": ("name", "rx_bytes_per_s", "tx_bytes_per_s", "errors_per_s"),
    "mounts": ("mount_point", "total_bytes", "used_bytes", "reason"),
}


def parsed(value: Struct) -> dict[str, Any]:
    """As a script reads it; what is no JSON fails."""
    found: dict[str, Any] = json.loads(encode(value), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return found


@pytest.fixture
def lost() -> dict[str, Any]:
    return parsed(snapshot(frames.gpu_lost()))


def test_gpus_keep_their_contract(lost: dict[str, Any]) -> None:
    assert [gpu["index"] for gpu in lost["gpus"]] == list(range(8))
    assert all(set(GPU) <= set(gpu) for gpu in lost["gpus"])
    assert lost["gpus"][0]["processes"][0].keys() >= {"pid", "mem_bytes"}
    assert lost["gpus"][1]["throttle"] == ["sw_thermal", "sw_power_cap"]


def test_gpus_have_the_rates_of_their_counters_and_their_topology() -> None:
    frame = frames.healthy()
    rates = GpuRates(index=1, nvlink_tx_bytes_per_s=2e11)
    topology = Topology(indexes=(0, 1), paths=(("SELF", "NVLINK"), ("NVLINK", "SELF")))
    found = parsed(snapshot(replace(frame, derived=replace(frame.derived, gpu_rates=(rates,), topology=topology))))
    assert found["gpus"][0]["rates"] is None
    assert found["gpus"][1]["rates"]["nvlink_tx_bytes_per_s"] == 2e11
    assert found["gpu_topology"]["paths"] == [["SELF", "NVLINK"], ["NVLINK", "SELF"]]


def test_a_lost_gpu_has_a_reason_and_no_numbers(lost: dict[str, Any]) -> None:
    gpu = lost["gpus"][3]
    assert (gpu["status"], gpu["util_pct"], gpu["power_w"], gpu["processes"]) == ("lost", None, None, None)
    assert gpu["reason"].startswith("fell off the bus")
    assert lost["gpus"][6]["status"] == "stale"


def test_disks_and_network_keep_their_contract(lost: dict[str, Any]) -> None:
    for name, keys in DISK_AND_NIC.items():
        assert lost[name]
        assert all(set(keys) <= set(entry) for entry in lost[name])


def test_ranks_of_the_diagnosis() -> None:
    found = parsed(diagnosis(frames.dead_rank()))
    assert found["job"]["launcher"]["kind"] == "torchrun"
    assert found["job"]["world_size"] == 2
    first, second = found["job"]["ranks"]
    assert (first["rank"], first["pid"], first["step"], first["step_time_s"]) == (0, 41012, 12589, 0.312)
    assert (second["state"], second["phase"], second["exit_code"], second["rss_bytes"]) == ("dead", None, -9, None)
    assert found["findings"][0]["symptom"] == "rank-dead"
    assert found["blind"] == [{"source": "gpu", "reason": "no NVIDIA driver: libnvidia-ml.so.1 not found"}]
    assert found["episodes"] == []
    assert parsed(diagnosis(frames.healthy()))["job"]["ranks"][5]["gpu"] == 5


def with_rank(**fields: Any) -> Frame:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    changed = replace(job, ranks=(replace(job.ranks[0], **fields), *job.ranks[1:]))
    return replace(frame, derived=replace(frame.derived, job=changed))


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_cannot_hold_are_null(loss: float) -> None:
    progress = Progress(step=3, loss=loss)
    rank = parsed(diagnosis(with_rank(progress=progress, step_time_s=loss)))["job"]["ranks"][0]
    assert (rank["step"], rank["progress"]["loss"], rank["step_time_s"]) == (3, None, None)


def test_no_character_of_a_text_controls_a_terminal_or_its_reader() -> None:
    evil = "a\x1b[31m\x9b31m\u202egol"
    text = encode({"log": evil})
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(text) == {"log": "a␛[31m\\u009b31m\\u202egol"}


def test_a_text_of_any_length_is_cut() -> None:
    text = json.loads(encode({"line": "x" * 1_000_000}))["line"]
    assert text == "x" * LONGEST_TEXT + f"… ({1_000_000 - LONGEST_TEXT} more characters)"


def test_bytes_that_are_no_text_are_question_marks() -> None:
    rank = parsed(diagnosis(with_rank(log="/logs/run-\udcff.log")))["job"]["ranks"][0]
    assert rank["log"] == "/logs/run-?.log"


def test_without_a_job() -> None:
    frame = frames.healthy()
    bare = replace(frame, derived=replace(frame.derived, job=None, cpu=None, memory=None, network=None, cgroup=None))
    found = parsed(snapshot(bare))
    assert (found["job"], found["cpu"], found["memory"], found["nics"]) == (None, None, None, [])
    assert parsed(diagnosis(bare))["job"] is None


def test_what_decides_the_exit_code() -> None:
    (finding,) = frames.dead_rank().findings
    assert finding.severity in AT_LEAST["warning"]
    assert replace(finding, severity="info").severity not in AT_LEAST["warning"]
