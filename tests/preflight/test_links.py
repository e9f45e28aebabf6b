"""Links of the GPUs: full width, all up, all alike."""

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace

from hwtop.model.gpu.device import GpuProcess, GpuReading
from hwtop.model.gpu.link import Path, Topology
from hwtop.preflight.links import LINKS
from tests.gpu_frames import links
from tests.preflight.machines import ask, h100, machine

_GOOD = {
    "pcie_gen": 1,
    "pcie_gen_max": 5,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "nvlinks": links(),
    "fabric": "completed",
}


@pytest.mark.parametrize(
    ("check", "values", "words"),
    [
        ("gpu-pcie", {"pcie_width": 8}, "PCIe x8 instead of x16"),
        ("gpu-pcie", {"pcie_gen_max": 3}, "its peers reach 5"),
        ("gpu-nvlink", {"nvlinks": (replace(links()[0], is_up=False), *links()[1:])}, "its peers have 18"),
        ("gpu-fabric", {"fabric": "in progress"}, "error 802"),
        ("gpu-numa", {"cpus": "4000-4001"}, "GPU 1"),
    ],
)
def test_one_link_is_wrong(check: str, values: dict[str, object], words: str) -> None:
    own = f"0-{max(os.sched_getaffinity(0))}"
    good = {**_GOOD, "cpus": own}
    assert ask(LINKS, check, machine(gpus=(h100(0, **good), h100(1, **good)))).status == "pass"
    found = ask(LINKS, check, machine(gpus=(h100(0, **good), h100(1, **{**good, **values}))))
    assert found.status == "warn"
    assert words in found.reason


def test_a_rank_needs_cores_near_to_its_own_gpu_only() -> None:
    own = f"0-{max(os.sched_getaffinity(0))}"
    mine, far = h100(0, cpus=own, processes=(GpuProcess(pid=os.getpid(), mem_bytes=1),)), h100(1, cpus="4000-4001")
    assert ask(LINKS, "gpu-numa", machine(gpus=(mine, far))).status == "warn"
    assert ask(LINKS, "gpu-numa", machine(gpus=(mine, far), options={"pid": os.getpid()})).status == "pass"


@pytest.mark.parametrize(("far", "status"), [("NVLINK", "pass"), ("SYS", "warn")])
def test_pairs_without_a_link(far: Path, status: str) -> None:
    paths: tuple[tuple[Path, ...], ...] = (
        ("SELF", "NVLINK", far),
        ("NVLINK", "SELF", "NVLINK"),
        (far, "NVLINK", "SELF"),
    )
    reading = GpuReading(at_s=100.0, gpus=tuple(map(h100, range(3))), topology=Topology(indexes=(0, 1, 2), paths=paths))
    found = ask(LINKS, "gpu-topology", machine(gpu=reading))
    assert found.status == status
    assert status == "pass" or "0 and 2 (SYS)" in found.reason
