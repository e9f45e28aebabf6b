from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hwtop.collectors import pressure
from hwtop.collectors.cpu import CPUINFO_EVERY_S, FREQUENCIES_PER_READ, CpuSource
from hwtop.model.cpu import CpuTimes, Pressure, PressureLine
from tests.host import Clock, proc, sys, write_tree


def test_two_sockets_are_read_as_the_kernel_shows_them() -> None:
    reading = CpuSource(proc=proc("two-sockets", "second"), sys=sys("two-sockets"), now=Clock(7.5)).read()
    assert reading.at_s == 7.5
    assert reading.core_ids == tuple(range(127))  # 127 is offline
    assert reading.cores[0] == CpuTimes(
        user=10150, nice=5, system=3030, idle=500016, iowait=204, irq=0, softirq=50, steal=0
    )
    assert reading.cores[65].steal == 20
    assert (reading.running, reading.blocked, reading.context_switches) == (61, 3, 91877364)
    assert reading.load == (61.25, 58.5, 40.0)
    assert reading.model_name == "AMD EPYC 7543 32-Core Processor"
    assert reading.freq_mhz[:2] == (2800.0, 3200.0)  # no cpufreq here: from cpuinfo
    assert len(reading.freq_mhz) == 127
    assert reading.psi["cpu"].some == PressureLine(avg10_pct=12.5, avg60_pct=10.25, avg300_pct=8.0, total_us=123706789)
    assert reading.psi["io"].full == PressureLine(avg10_pct=2.5, avg60_pct=1.5, avg300_pct=0.5, total_us=4000000)
    assert reading.missing == {}


def test_an_offline_core_leaves_a_gap_in_the_numbers(tmp_path: Path) -> None:
    stat = (
        "cpu  4 0 0 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0 0\ncpu3 3 0 0 0 0 0 0 0\nctxt 1\nprocs_running 1\nprocs_blocked 0\n"
    )
    write_tree(tmp_path, {"stat": stat, "loadavg": "0 0 0 1/1 1"})
    reading = CpuSource(proc=str(tmp_path), sys=str(tmp_path)).read()
    assert reading.core_ids == (0, 3)
    assert [core.user for core in reading.cores] == [1, 3]


def test_each_core_has_its_numa_node_and_memory_without_cores_is_no_place_for_one(tmp_path: Path) -> None:
    folder = tmp_path / "devices" / "system" / "node"
    for node, cpus in ((0, "0-63\n"), (1, "64-126\n"), (2, "\n")):
        (folder / f"node{node}").mkdir(parents=True)
        (folder / f"node{node}" / "cpulist").write_text(cpus)
    (folder / "online").write_text("0-2\n")
    reading = CpuSource(proc=proc("two-sockets", "second"), sys=str(tmp_path)).read()
    assert reading.core_nodes == (0,) * 64 + (1,) * 63
    assert CpuSource(proc=proc("two-sockets", "second"), sys=str(tmp_path / "none")).read().core_nodes == ()


def test_a_kernel_that_tells_less_gives_reasons() -> None:
    reading = CpuSource(proc=proc("host-v1", "first"), sys=sys("host-v1", "first")).read()
    assert reading.psi == {}
    assert reading.model_name is None
    assert reading.freq_mhz == (None, None)
    assert set(reading.missing) == {"psi.cpu", "psi.io", "psi.memory", "model_name", "freq_mhz"}
    assert reading.missing["psi.io"].endswith("/pressure/io: no PSI in this kernel or cgroup")


def test_psi_that_is_built_in_but_switched_off_says_how_to_switch_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> str:
        raise OSError(95, "Operation not supported", path)  # EOPNOTSUPP, as the kernel answers

    monkeypatch.setattr(pressure, "read_text", refuse)
    missing: dict[str, str] = {}
    assert pressure.read_pressures({"cpu": "/proc/pressure/cpu"}, missing) == {}
    assert missing == {"psi.cpu": "/proc/pressure/cpu: PSI is switched off (boot with psi=1)"}


def test_psi_without_a_full_line_and_garbled_psi() -> None:
    line = PressureLine(avg10_pct=1.0, avg60_pct=2.0, avg300_pct=3.0, total_us=4)
    assert pressure.parse_pressure("some avg10=1 avg60=2 avg300=3 total=4\n") == Pressure(some=line)
    with pytest.raises(ValueError, match="PSI"):
        pressure.parse_pressure("some avg10=1 avg6")


@pytest.mark.parametrize(
    ("stat", "load", "reason"),
    [
        ("cpu  1 2 3\n", "0 0 0", "/proc/stat: line 'cpu' has 3 numbers"),
        ("cpu  1 2 3 4 5 6 7 x\n", "0 0 0", "/proc/stat: invalid literal"),
        ("", "0 0 0", "/proc/stat: cut short"),
        ("cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\nctxt 1\nprocs_runn", "0 0 0", "/proc/stat"),
        (
            "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\nctxt 1\nprocs_running 1\nprocs_blocked 1\n",
            "0.1",
            "/proc/loadavg",
        ),
    ],
)
def test_a_garbled_file_is_a_reason(tmp_path: Path, stat: str, load: str, reason: str) -> None:
    write_tree(tmp_path, {"stat": stat, "loadavg": load})
    with pytest.raises(ValueError, match=reason):
        CpuSource(proc=str(tmp_path), sys=str(tmp_path)).read()


def test_probe_names_the_file_that_is_not_there(tmp_path: Path) -> None:
    assert CpuSource(proc=str(tmp_path)).probe() == f"{tmp_path}/stat: no such file or directory"
    assert CpuSource(proc=proc("two-sockets", "first")).probe() is None


def test_frequencies_of_many_cores_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    cpufreq = "devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq"
    write_tree(tmp_path, {cpufreq.format(core): f"{1000000 + core * 1000}\n" for core in range(127)})
    source = CpuSource(proc=proc("two-sockets", "second"), sys=str(tmp_path))
    first = source.read().freq_mhz
    assert first[:FREQUENCIES_PER_READ] == tuple(1000.0 + core for core in range(FREQUENCIES_PER_READ))
    assert set(first[FREQUENCIES_PER_READ:]) == {None}
    for _ in range(3):
        last = source.read().freq_mhz
    assert last == tuple(1000.0 + core for core in range(127))
    write_tree(tmp_path, {cpufreq.format(0): "<unknown>\n"})
    for _ in range(4):
        last = source.read().freq_mhz
    assert last[:2] == (None, 1001.0)


def test_cpuinfo_is_read_seldom(tmp_path: Path) -> None:
    shutil.copytree(proc("two-sockets", "second"), tmp_path / "proc")
    clock = Clock()
    source = CpuSource(proc=str(tmp_path / "proc"), sys=str(tmp_path), now=clock)
    assert source.read().freq_mhz[0] == 2800.0
    (tmp_path / "proc/cpuinfo").write_text("processor : 0\ncpu MHz : 900.5\n")
    clock.at_s += CPUINFO_EVERY_S - 1
    assert source.read().freq_mhz[0] == 2800.0
    clock.at_s += 1
    assert source.read().freq_mhz[:2] == (900.5, None)


def test_power_cpuinfo(tmp_path: Path) -> None:
    shutil.copytree(proc("host-v1", "first"), tmp_path / "proc")
    (tmp_path / "proc/cpuinfo").write_text(
        "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n"
    )
    reading = CpuSource(proc=str(tmp_path / "proc"), sys=str(tmp_path)).read()
    assert reading.model_name == "POWER9, altivec supported"
    assert reading.freq_mhz == (3800.0, None)
