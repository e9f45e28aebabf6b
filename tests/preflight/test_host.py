"""Memory, limits and processor, on small trees and readings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.host.cpu import CpuReading, CpuTimes
from hwtop.model.host.disk import DiskReading, MountReading
from hwtop.model.host.network import IbPortCounters, NetworkReading
from hwtop.preflight.host import HOST
from tests.preflight.machines import GIB, ask, h100, machine, memory

_TIMES = CpuTimes(user=1, nice=0, system=1, idle=8, iowait=0, irq=0, softirq=0, steal=0)
_CPU = CpuReading(
    at_s=100.0,
    total=_TIMES,
    cores=(_TIMES,) * 64,
    freq_mhz=(),
    load=(0.0, 0.0, 0.0),
    running=1,
    blocked=0,
    context_switches=0,
    psi={},
)
_LIMITS = "Limit  Soft Limit  Hard Limit  Units\nMax open files  {}  65536  files\nMax locked memory  {}  {}  bytes\n"


def limits(folder: Path, files: str = "65536", locked: str = "unlimited", **readings: Any) -> Any:
    text = _LIMITS.format(files, locked, locked)
    return machine(folder, {f"proc/{os.getpid()}/limits": text}, **readings)


def cgroup(**values: Any) -> CgroupReading:
    return CgroupReading(at_s=100.0, version=2, path="/job", **values)


@pytest.mark.parametrize(
    ("check", "good", "bad", "words"),
    [
        ("memory-free", memory(), memory(available_bytes=GIB), "used"),
        ("swap", memory(), memory(swap_free_bytes=GIB), "7.0 of 8.0 GiB"),
    ],
)
def test_memory(check: str, good: Any, bad: Any, words: str) -> None:
    assert ask(HOST, check, machine(memory=good)).status == "pass"
    found = ask(HOST, check, machine(memory=bad))
    assert found.status in ("warn", "fail")
    assert words in found.reason
    assert ask(HOST, check, machine(refused={"memory": "no /proc"})).reason == "no /proc"


def test_the_limit_of_the_cgroup_is_what_a_run_has() -> None:
    gpus = (h100(0),)
    assert ask(HOST, "memory-limit", machine(memory=memory(total_bytes=512 * GIB), gpus=gpus)).status == "pass"
    found = ask(
        HOST,
        "memory-limit",
        machine(memory=memory(total_bytes=512 * GIB), cgroup=cgroup(mem_limit_bytes=16 * GIB), gpus=gpus),
    )
    assert found.status == "warn"
    assert "16 GiB: limit of the cgroup" in found.reason


@pytest.mark.parametrize(
    ("total", "used", "status"), [(32 * GIB, 0, "pass"), (1 << 26, 0, "warn"), (4 * GIB, 4 * GIB, "warn")]
)
def test_shared_memory(total: int, used: int, status: str) -> None:
    mount = MountReading(
        mount_point="/dev/shm",
        device="tmpfs",
        fs_type="tmpfs",
        total_bytes=total,
        used_bytes=used,
        available_bytes=total - used,
    )
    assert ask(HOST, "shared-memory", machine(disk=DiskReading(at_s=1.0, disks=(), mounts=(mount,)))).status == status


def test_open_files(tmp_path: Path) -> None:
    assert ask(HOST, "open-files", limits(tmp_path, "65536")).status == "pass"
    assert ask(HOST, "open-files", limits(tmp_path, "unlimited")).status == "pass"
    assert "at most 1024" in ask(HOST, "open-files", limits(tmp_path, "1024")).reason


def test_locked_memory_matters_with_rdma_only(tmp_path: Path) -> None:
    port = IbPortCounters(
        device="mlx5_0",
        port=1,
        state="4: ACTIVE",
        phys_state="LinkUp",
        rate_gbit_per_s=400.0,
        rx_bytes=0,
        tx_bytes=0,
        errors={},
    )
    plain, rdma = NetworkReading(at_s=1.0, nics=()), NetworkReading(at_s=1.0, nics=(), ib_ports=(port,))
    assert ask(HOST, "locked-memory", limits(tmp_path, locked="65536", network=plain)).status == "skip"
    assert ask(HOST, "locked-memory", limits(tmp_path, locked="65536", network=rdma)).status == "warn"
    several = limits(tmp_path, locked="65536", network=rdma, env={"SLURM_NNODES": "2"})
    assert ask(HOST, "locked-memory", several).status == "fail"
    assert ask(HOST, "locked-memory", limits(tmp_path, network=rdma)).status == "pass"


def test_processes() -> None:
    assert ask(HOST, "process-limit", machine(cgroup=cgroup(pids_limit=1000, pids_used=10))).status == "pass"
    assert ask(HOST, "process-limit", machine(cgroup=cgroup(pids_limit=1000, pids_used=990))).status == "warn"


def test_cores() -> None:
    assert ask(HOST, "cores", machine(cpu=_CPU)).status == "pass"
    throttled = ask(HOST, "cores", machine(cpu=_CPU, cgroup=cgroup(cpu_quota_cores=0.5)))
    assert throttled.status == "warn"
    assert "0.5 cores" in throttled.reason
    many = tuple(map(h100, range(len(os.sched_getaffinity(0)) + 1)))
    assert "fewer than one for each" in ask(HOST, "cores", machine(cpu=_CPU, gpus=many)).reason


@pytest.mark.parametrize(
    ("governor", "driver", "status"),
    [
        ("performance", "acpi-cpufreq", "pass"),
        ("powersave", "intel_pstate", "pass"),
        ("powersave", "acpi-cpufreq", "warn"),
    ],
)
def test_governor(governor: str, driver: str, status: str, tmp_path: Path) -> None:
    folder = "sys/devices/system/cpu/cpu0/cpufreq"
    files = {f"{folder}/scaling_governor": f"{governor}\n", f"{folder}/scaling_driver": f"{driver}\n"}
    assert ask(HOST, "cpu-governor", machine(tmp_path, files)).status == status


@pytest.mark.parametrize(("free", "status"), [(0, "pass"), (8192, "warn")])
def test_huge_pages(free: int, status: str, tmp_path: Path) -> None:
    text = f"MemTotal: {64 << 20} kB\nHugePages_Total: 8192\nHugePages_Free: {free}\nHugepagesize: 2048 kB\n"
    assert ask(HOST, "huge-pages", machine(tmp_path, {"proc/meminfo": text})).status == status


class _Clock:
    def __init__(self, state: int) -> None:
        self.state = state

    def adjtimex(self, _: object) -> int:
        return self.state


@pytest.mark.parametrize(("state", "nodes", "status"), [(0, "2", "pass"), (5, "2", "warn"), (5, "1", "pass")])
def test_clock(state: int, nodes: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: _Clock(state))
    assert ask(HOST, "clock", machine(env={"SLURM_NNODES": nodes})).status == status
