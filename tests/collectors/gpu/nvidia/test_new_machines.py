"""Machines on which NVML's answers are not what they seem: each number is right, or missing with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.gpu.holder import GpuHolders
from hwtop.model.gpu.device import Gpu
from tests.fakenvml.fixture import PIDS, FakeNvml, unexplained
from tests.host import write_tree
from tests.parts import replace

MIB = 1 << 20
HOST, CONTAINER = "pid:[4026531836]", "pid:[4026532799]"


def sysfs(tmp_path: Path, files: dict[str, str]) -> str:
    write_tree(tmp_path / "sys", files)
    return str(tmp_path / "sys")


def held(tmp_path: Path, gpu: Gpu, namespace: str = HOST) -> Gpu:
    """The GPU with what is known of its processes, where all of the machine is seen, or not."""
    stat = " ".join(["1"] * 49)
    pids = {f"{pid}/stat": f"{pid} (python) S {stat}" for pid in (1, PIDS["rank0"])}
    write_tree(tmp_path / "proc", {"self/ns/x": "", "sys/kernel/osrelease": "6.11.0-nvidia", **pids})
    (tmp_path / "proc/self/ns/pid").symlink_to(namespace)
    (found,) = GpuHolders(str(tmp_path / "proc")).reported([gpu])
    return found


def read(fake: FakeNvml, scenario: str, sys: str = "/nonexistent") -> Gpu:
    fake.load(scenario)
    fake.env["FAKE_SYS"] = sys
    return fake.probe().read()[0]


@pytest.mark.parametrize("scenario", ["gb10-unified", "gb10-host-ram"])
def test_memory_in_use_on_unified_memory_is_that_of_the_processes(
    fake_nvml: FakeNvml, tmp_path: Path, scenario: str
) -> None:
    """Never the host's RAM, of which 98,695 MiB are in use here."""
    gpu = read(fake_nvml, scenario)
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (None, None), "before the processes are looked up"
    gpu = held(tmp_path, gpu)
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (21400 * MIB, None)
    assert "unified memory" in gpu.missing["mem_total_bytes"]
    assert (gpu.pcie_gen, gpu.pcie_width) == (None, None), "generation 1 with one lane is no link of a slot"
    assert not unexplained(gpu)


def test_an_idle_gpu_with_unified_memory_uses_none(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    fake_nvml.load("gb10-unified")
    fake_nvml.fail(0, "nvmlDeviceGet*RunningProcesses*", "NOT_FOUND")
    gpu = fake_nvml.probe().read()[0]
    assert gpu.processes is None, "a list that fails is no empty list"
    assert "processes not reported" in held(tmp_path, gpu).missing["mem_used_bytes"]
    assert held(tmp_path / "idle", replace(gpu, processes=())).mem_used_bytes == 0


def test_in_a_container_the_sum_would_be_too_small(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    gpu = held(tmp_path, read(fake_nvml, "gb10-unified"), CONTAINER)
    assert gpu.mem_used_bytes is None
    assert "outside of this container" in gpu.missing["mem_used_bytes"]


def test_a_process_without_a_size_leaves_the_sum_unknown(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    fake_nvml.load("gb10-unified")
    fake_nvml.set(0, proc="@rank0 - sm=90")
    gpu = held(tmp_path, fake_nvml.probe().read()[0])
    assert gpu.mem_used_bytes is None
    assert "not reported" in gpu.missing["mem_used_bytes"]


def test_grace_hopper_has_memory_of_its_own(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    gpu = held(tmp_path, read(fake_nvml, "gh200"))
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (61250 * MIB, 97871 * MIB)
    assert gpu.unlisted_bytes == 50 * MIB


ORIN = {
    "class/devfreq/17000000.gpu/device/load": "734\n",
    "class/devfreq/17000000.gpu/cur_freq": "1020000000\n",
    "class/devfreq/17000000.gpu/max_freq": "1300500000\n",
    "class/devfreq/15340000.vic/device/load": "999\n",
    "class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "class/thermal/thermal_zone0/temp": "61000\n",
    "class/thermal/thermal_zone1/type": "gpu-thermal\n",
    "class/thermal/thermal_zone1/temp": "54250\n",
}


@pytest.mark.parametrize("scenario", ["jetson-orin", "jetson-orin-refuses"])
def test_of_a_jetson_the_kernel_knows_more_than_nvml(fake_nvml: FakeNvml, tmp_path: Path, scenario: str) -> None:
    gpu = read(fake_nvml, scenario, sysfs(tmp_path, ORIN))
    assert (gpu.name, gpu.status) == ("Orin (nvgpu)", "ok")
    found = [gpu.util_pct, gpu.temp_c, gpu.sm_clock_mhz, gpu.sm_clock_max_mhz]
    assert found == pytest.approx([73.4, 54.25, 1020, 1300.5])
    for field in ("power_w", "power_limit_w", "mem_used_bytes", "mem_total_bytes", "mem_util_pct", "mem_clock_mhz"):
        assert getattr(gpu, field) is None
        assert gpu.missing[field]
    assert not gpu.processes, "PID 0 is no process"
    assert not unexplained(gpu)


def test_zeros_of_nvml_are_no_numbers_where_sysfs_is_silent_too(fake_nvml: FakeNvml) -> None:
    gpu = read(fake_nvml, "jetson-orin")
    assert (gpu.util_pct, gpu.temp_c, gpu.power_w, gpu.throttle) == (None, None, None, None)
    assert "NVML answers 0" in gpu.missing["util_pct"]


def test_a_sensor_whose_power_is_off_is_missing(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    """The kernel refuses to read it then; here its file is empty."""
    gpu = read(fake_nvml, "jetson-orin", sysfs(tmp_path, {**ORIN, "class/thermal/thermal_zone1/temp": ""}))
    assert gpu.util_pct == pytest.approx(73.4)
    assert gpu.temp_c is None
    assert "NVML answers 0" in gpu.missing["temp_c"]


def test_thor_has_its_utilization_from_nvml(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    files = {"class/devfreq/gpu-gpc-0/cur_freq": "1575000000\n", "class/devfreq/gpu-gpc-0/max_freq": "1575000000\n"}
    zone = {"class/thermal/thermal_zone4/type": "gpu-thermal\n", "class/thermal/thermal_zone4/temp": "47000\n"}
    gpu = held(tmp_path, read(fake_nvml, "jetson-thor", sysfs(tmp_path, files | zone)))
    assert (gpu.util_pct, gpu.temp_c, gpu.sm_clock_mhz) == (97, 47, 1575)
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (31000 * MIB, None)
    assert not unexplained(gpu)


def test_a_card_in_a_jetson_keeps_its_own_numbers(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    gpu = read(fake_nvml, "gtx1080", sysfs(tmp_path, ORIN))
    assert gpu.util_pct != pytest.approx(73.4)
    assert gpu.temp_c != pytest.approx(54.25)


def test_wsl_reports_no_memory_of_processes(fake_nvml: FakeNvml) -> None:
    """Neither 17,179,869,184 GiB nor 0."""
    gpu = read(fake_nvml, "wsl")
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (14360 * MIB, 16376 * MIB)
    (process,) = gpu.processes or ()
    assert (process.pid, process.mem_bytes) == (PIDS["rank0"], None)
    assert not unexplained(gpu)


def test_more_in_use_than_there_is_is_no_number(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, mem_used=90000)
    gpu = fake_nvml.probe(0).read()[0]
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (None, None)
    assert gpu.missing["mem_used_bytes"] == "the driver reports more in use than there is"


def test_slots_without_a_link_are_no_links(fake_nvml: FakeNvml) -> None:
    """A B300 counts 36, of which 18 can be read; one that is down is still a link."""
    fake_nvml.load("b300x8")
    fake_nvml.set(3, nvlink_down="7")
    gpus = fake_nvml.probe().read()
    assert [len(gpu.nvlinks or ()) for gpu in gpus] == [18] * 8
    assert [link.link for link in gpus[3].nvlinks or () if not link.is_up] == [7]
    assert all(link.is_up and link.peer == "switch" for link in gpus[0].nvlinks or ())
