from __future__ import annotations

import json
import subprocess
import sys

import msgspec

from hwtop.model.frame import Frame
from hwtop.model.gpu.device import CallCost
from hwtop.model.symptom import Blind
from hwtop.report.frame import gpu_costs
from hwtop.report.frame.json_report import snapshot
from hwtop.report.json_text import plain
from tests import frames
from tests.fakenvml.fixture import FakeNvml

COSTS = (
    CallCost(function="nvmlDeviceGetPcieThroughput", calls=32, mean_ms=20.5, max_ms=23.25),
    CallCost(function="nvmlInit", calls=1, mean_ms=35.0, max_ms=35.0),
)
TABLE = """\
function                     calls  mean ms  max ms  total ms
nvmlDeviceGetPcieThroughput     32   20.500  23.250     656.0
nvmlInit                         1   35.000  35.000      35.0
33 calls in 11.0 s, 3/s, 0.691 s in total, 8 GPUs
"""


def measured(costs: tuple[CallCost, ...]) -> Frame:
    frame = frames.gpu_lost()
    derived = msgspec.structs.replace(frame.derived, gpu_costs=costs)
    return msgspec.structs.replace(frame, derived=derived, watched_s=11.0)


def test_what_took_most_comes_first_with_the_sum_below() -> None:
    assert gpu_costs.table(msgspec.structs.replace(measured(COSTS), blind=())) == TABLE


def test_a_call_that_has_not_returned_is_told_below() -> None:
    hung = Blind(source="gpu 3", reason="driver not answering for 9 s (NVML call nvmlDeviceGetName)")
    frame = msgspec.structs.replace(measured(COSTS), blind=(hung, Blind(source="logs", reason="none")))
    assert gpu_costs.table(frame) == TABLE + f"not included: gpu 3: {hung.reason}\n"


def test_costs_as_objects() -> None:
    (first, _) = plain(snapshot(measured(COSTS), with_costs=True))["gpu_calls"]
    assert first == {"function": "nvmlDeviceGetPcieThroughput", "calls": 32, "mean_ms": 20.5, "max_ms": 23.25}


def test_without_a_gpu_the_reason_is_told_and_nobody_waits() -> None:
    frame = frames.dead_rank()
    assert gpu_costs.table(frame) == "no calls into NVML: no NVIDIA driver: libnvidia-ml.so.1 not found\n"
    number = max(frame.number, 2)
    taken = list(gpu_costs.while_any(msgspec.structs.replace(frame, number=number + step) for step in range(5)))
    assert len(taken) == 1


def test_gpus_that_answer_are_watched_to_the_end() -> None:
    assert len(list(gpu_costs.while_any(measured(COSTS) for _ in range(5)))) == 5


def test_the_command_measures_the_library_that_is_there(fake_nvml: FakeNvml) -> None:
    code = "import hwtop.commands.job.snapshot as s; s._COST_SECONDS = 2.0; s.command(['--costs', '--json'])"
    result = subprocess.run([sys.executable, "-c", code], env=fake_nvml.env, check=True, capture_output=True, text=True)
    calls = json.loads(result.stdout)["gpu_calls"]
    by_function = {call["function"]: call for call in calls}
    assert by_function["nvmlInit"]["calls"] == 1
    assert by_function["nvmlDeviceGetHandleByIndex"]["calls"] <= 3 * 8, "once for rows, topology and events"
    assert by_function["nvmlDeviceGetUtilizationRates"]["calls"] >= 8
    totals = [call["calls"] * call["mean_ms"] for call in calls]
    assert totals == sorted(totals, reverse=True)
    assert all(0 < call["mean_ms"] <= call["max_ms"] for call in calls)
