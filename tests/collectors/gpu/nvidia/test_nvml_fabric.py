"""State of the NVLink fabric on the fake NVML, and the health mask in words."""

from __future__ import annotations

import pytest

from hwtop.collectors.gpu.nvidia.fabric import fabric_state
from tests.fakenvml.fixture import FakeNvml


def test_fabric_of_a_healthy_machine(fake_nvml: FakeNvml) -> None:
    assert fake_nvml.probe(0).read()[0].fabric == "completed"


def test_fabric_manager_does_not_run(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("0", fabric_state=1)
    fake_nvml.set("1", fabric_state=2)
    gpus = fake_nvml.probe(0, 1).read()
    assert [gpu.fabric for gpu in gpus] == ["not started", "in progress"]


def test_no_fabric_without_switches(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlink_peer="gpu")
    gpu = fake_nvml.probe(0).read()[0]
    assert gpu.fabric is None
    assert gpu.missing["fabric"] == "no NVLink fabric: only GPUs behind NVSwitches have one"


def test_old_driver_without_fabric(old_nvml: FakeNvml) -> None:
    gpu = old_nvml.probe(0).read()[0]
    assert (gpu.status, gpu.fabric) == ("ok", None)
    assert gpu.missing["fabric"] == "driver too old for nvmlDeviceGetGpuFabricInfoV"


@pytest.mark.parametrize(
    ("state", "status", "health", "words"),
    [
        (1, 0, 0, "not started"),
        (2, 0, 0b01, "in progress"),
        (3, 0, 0, "completed"),
        (3, 0, 0b10_10_10_10, "completed"),  # each flag says "no"
        (3, 999, 0, "failed: NVML error 999"),
        (3, 0, 0b01, "unhealthy: degraded bandwidth"),
        (3, 0, 0b01_10_01, "unhealthy: degraded bandwidth, route unhealthy"),
        (3, 0, 1 << 8, "completed"),  # no incorrect configuration
        (3, 0, 5 << 8, "unhealthy: too few NVLinks"),
        (3, 0, 15 << 8, "unhealthy: incorrect configuration 15"),
    ],
)
def test_fabric_state(state: int, status: int, health: int, words: str) -> None:
    assert fabric_state(state, status, health) == words
