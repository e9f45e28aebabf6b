"""NUMA node and CPUs near to an NVIDIA GPU."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Refused
from hwtop.collectors.gpu.nvidia.place import cpu_list, place
from tests.fakenvml.fixture import FakeNvml


def test_as_the_driver_tells(fake_nvml: FakeNvml) -> None:
    gpus = fake_nvml.probe(0, 5).read()
    assert [(gpu.numa_node, gpu.cpus) for gpu in gpus] == [(0, "0-47,96-143"), (1, "48-95,144-191")]
    assert not fake_nvml.calls("nvmlDeviceGetNumaNodeId", 0), "that is the node of the GPU's own memory"


@pytest.fixture
def sys_root(tmp_path: Path) -> Path:
    device = tmp_path / "bus" / "pci" / "devices" / "0000:1b:00.0"
    device.mkdir(parents=True)
    (device / "numa_node").write_text("1\n")
    (device / "local_cpulist").write_text("24-47,72-95\n")
    return tmp_path


def ask(function: str, *_: Any) -> Any:
    """A driver that knows of no affinity."""
    if function == "nvmlDeviceGetPciInfo":
        return SimpleNamespace(domain=0, bus=0x1B, device=0)
    raise Refused(function, codes.NOT_SUPPORTED, "Not Supported")


def test_sysfs_where_the_driver_does_not_know(sys_root: Path) -> None:
    assert place(str(sys_root)).read(ask, None) == {"numa_node": 1, "cpus": "24-47,72-95"}


def test_a_machine_without_numa(sys_root: Path) -> None:
    (sys_root / "bus/pci/devices/0000:1b:00.0/numa_node").write_text("-1\n")
    answer = place(str(sys_root)).read(ask, None)
    assert isinstance(answer["numa_node"], Refused)
    assert answer["cpus"] == "24-47,72-95"


def test_neither_knows(tmp_path: Path) -> None:
    answer = place(str(tmp_path)).read(ask, None)
    assert {field: refused.reason for field, refused in answer.items()} == {
        "numa_node": "not supported by this GPU",
        "cpus": "not supported by this GPU",
    }


@pytest.mark.parametrize(
    ("cpus", "text"), [([], ""), ([3], "3"), ([0, 1, 2, 3], "0-3"), ([64, 0, 1, 65, 7], "0-1,7,64-65")]
)
def test_cpu_lists(cpus: list[int], text: str) -> None:
    assert cpu_list(cpus) == text
