"""Processes on NVIDIA GPUs, on the fake NVML."""

from __future__ import annotations

import os

import pytest

from hwtop.model.gpu.device import Gpu, GpuProcess
from tests.fakenvml.fixture import PIDS, FakeNvml

MIB = 1024**2


def by_pid(gpu: Gpu) -> dict[int, GpuProcess]:
    assert gpu.processes is not None, gpu.missing
    return {process.pid: process for process in gpu.processes}


def test_kinds_of_processes(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gtx1080")
    fake_nvml.set(0, proc="77 100 type=M sm=20")
    fake_nvml.set(0, proc="78 100 type=C+G sm=5")
    (gpu,) = fake_nvml.probe().read()
    assert {pid: (process.kind, process.sm_pct) for pid, process in by_pid(gpu).items()} == {
        77: ("mps", 20.0),
        78: ("compute", 5.0),
        PIDS["rank0"]: ("compute", 70.0),
        PIDS["xorg"]: ("graphics", 3.0),
    }


def test_utilization_is_asked_since_the_last_sample(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(3)
    assert by_pid(probe.read()[0])[PIDS["rank3"]].sm_pct == 95.0
    fake_nvml.set(3, proc=f"{PIDS['rank3']} 70912 sm=12")
    probe.say("advance 2")
    assert by_pid(probe.read()[0])[PIDS["rank3"]].sm_pct == 12.0


def test_no_sample_means_idle(fake_nvml: FakeNvml) -> None:
    """NOT_FOUND of nvmlDeviceGetProcessUtilization is no fault."""
    fake_nvml.load("h100x8-idle")
    gpus = fake_nvml.probe().read()
    assert (gpus[4].throttle, gpus[4].processes) == (("idle",), ())
    assert by_pid(gpus[6])[PIDS["rank6"]].sm_pct == 0.0
    assert gpus[7].processes == (GpuProcess(pid=4194000, mem_bytes=70912 * MIB, sm_pct=0.0),)
    assert "processes.sm_pct" not in gpus[7].missing


def test_a_client_of_mps_without_a_sample_is_not_known_to_be_idle(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, proc="77 100 type=M sm=-")
    (gpu,) = fake_nvml.probe(0).read()
    assert by_pid(gpu)[77].sm_pct is None


def test_samples_that_cannot_be_are_left_out(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, proc="77 100 sm=4294967")
    (gpu,) = fake_nvml.probe(0).read()
    assert by_pid(gpu)[77].sm_pct == 0.0


def test_memory_that_is_not_known_is_not_zero(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gtx1080")
    fake_nvml.set(0, proc="77 -")
    (gpu,) = fake_nvml.probe().read()
    assert by_pid(gpu)[77].mem_bytes is None


def test_names_of_processes_that_are_not_seen_here(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, proc="4193999 100 name=/opt/train")
    fake_nvml.set(0, proc=f"{os.getpid()} 100 name=hidden")
    probe = fake_nvml.probe(0)
    (gpu,) = probe.read()
    assert by_pid(gpu)[4193999].name == "/opt/train"
    assert by_pid(gpu)[os.getpid()].name is None, "it is in /proc, where more is told of it"
    asked = fake_nvml.calls("nvmlSystemGetProcessName", -1)
    probe.say("advance 2")
    assert by_pid(probe.read()[0])[4193999].name == "/opt/train"
    assert fake_nvml.calls("nvmlSystemGetProcessName", -1) == asked, "once a process"


@pytest.mark.parametrize(
    ("functions", "is_empty"),
    [
        ("nvmlDeviceGet*Process*", False),
        ("nvmlDeviceGetComputeRunningProcesses*", False),
        ("nvmlDeviceGetGraphicsRunningProcesses*", True),
        ("nvmlDeviceGetMPSComputeRunningProcesses*", True),
    ],
)
def test_refused_is_not_none_running(fake_nvml: FakeNvml, functions: str, is_empty: bool) -> None:
    if is_empty:
        fake_nvml.load("h100x8-idle")
    fake_nvml.fail(4, functions, "NO_PERMISSION")
    probe = fake_nvml.probe(4)
    (gpu,) = probe.read()
    assert (gpu.status, gpu.processes) == ("ok", None)
    assert gpu.missing["processes"] == "permission denied"
    fake_nvml.undo()
    probe.say("advance 2")
    (gpu,) = probe.read()
    assert gpu.processes is not None
    assert "processes" not in gpu.missing


def test_one_refused_list_does_not_hide_the_others(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail(0, "nvmlDeviceGetGraphicsRunningProcesses*", "NO_PERMISSION")
    (gpu,) = fake_nvml.probe(0).read()
    assert list(by_pid(gpu)) == [PIDS["rank0"]]


def test_refused_utilization_leaves_the_list(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail(0, "nvmlDeviceGetProcessUtilization", "NO_PERMISSION")
    (gpu,) = fake_nvml.probe(0).read()
    assert by_pid(gpu)[PIDS["rank0"]] == GpuProcess(pid=PIDS["rank0"], mem_bytes=70912 * MIB)
    assert gpu.missing["processes.sm_pct"] == "permission denied"
