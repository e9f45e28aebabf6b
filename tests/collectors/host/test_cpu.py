from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hwtop.collectors.host import pressure
from hwtop.collectors.host.cpu import FREQUENCIES_EVERY_S, CpuSource
from hwtop.model.host.cpu import CpuTimes, Pressure, PressureLine
from tests.host import Clock, MacSystem, RecordedSystem, proc, sys, write_tree


def source(root: str, sys: str, clock: Clock | None = None) -> CpuSource:
    return CpuSource(proc=root, sys=sys, now=clock or Clock(), system=RecordedSystem(root))


def test_two_sockets_are_read_as_the_kernel_shows_them() -> None:
    reading = source(proc("two-sockets", "second"), sys("two-sockets"), Clock(7.5)).read()
    assert reading.at_s == 7.5
    assert reading.core_ids == tuple(range(127))  # 127 is offline
    assert reading.cores[0] == CpuTimes(
        user=10150, nice=5, system=3030, idle=500016, iowait=204, irq=0, softirq=50, steal=0
    )
    assert reading.cores[65].steal == 20
    assert (reading.running, reading.blocked, reading.context_switches) == (61, 3, 91877364)
    assert reading.load == (61.25, 58.5, 40.0)
    assert reading.model_name == "AMD EPYC 7543 32-Core Processor"
    assert reading.freq_mhz[:2] == (2800.0, 3200.0)
    assert len(reading.freq_mhz) == 127
    assert reading.psi["cpu"].some == PressureLine(avg10_pct=12.5, avg60_pct=10.25, avg300_pct=8.0, total_us=123706789)
    assert reading.psi["io"].full == PressureLine(avg10_pct=2.5, avg60_pct=1.5, avg300_pct=0.5, total_us=4000000)
    assert reading.missing == {}


def test_an_offline_core_leaves_a_gap_in_the_numbers(tmp_path: Path) -> None:
    stat = (
        "cpu  4 0 0 0 0 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\ncpu3 3 0 0 0 0 0 0 0 0 0\n"
        "ctxt 1\nprocs_running 1\nprocs_blocked 0\n"
    )
    write_tree(tmp_path, {"stat": stat, "loadavg": "0 0 0 1/1 1", "cpuinfo": ""})
    reading = source(str(tmp_path), str(tmp_path)).read()
    assert reading.core_ids == (0, 3)
    assert [core.user for core in reading.cores] == [1, 3]


def test_each_core_has_its_numa_node_and_memory_without_cores_is_no_place_for_one(tmp_path: Path) -> None:
    folder = tmp_path / "devices" / "system" / "node"
    for node, cpus in ((0, "0-63\n"), (1, "64-126\n"), (2, "\n")):
        (folder / f"node{node}").mkdir(parents=True)
        (folder / f"node{node}" / "cpulist").write_text(cpus)
    (folder / "online").write_text("0-2\n")
    reading = source(proc("two-sockets", "second"), str(tmp_path)).read()
    assert reading.core_nodes == (0,) * 64 + (1,) * 63
    assert source(proc("two-sockets", "second"), str(tmp_path / "none")).read().core_nodes == ()


def test_a_kernel_that_reports_less_gives_reasons() -> None:
    reading = source(proc("host-v1", "first"), sys("host-v1", "first")).read()
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


CORE = "cpu0 1 2 3 4 5 6 7 8 0 0\n"


@pytest.mark.parametrize(
    ("stat", "reason"),
    [
        ("cpu  1 2 3\n" + CORE + "ctxt 1\nprocs_running 1\nprocs_blocked 1\n", "/proc/stat: cut short or garbled"),
        ("cpu  1 2 3 4 5 6 7 x\n" + CORE, "/proc/stat: cut short or garbled"),
        ("cpu  1 2 3 4 5 6 7 8\n" + CORE + "ctxt 1\nprocs_runn", "/proc/stat: cut short or garbled"),
        ("", "/proc/stat: cut short or garbled"),
    ],
)
def test_a_garbled_file_is_a_reason(tmp_path: Path, stat: str, reason: str) -> None:
    write_tree(tmp_path, {"stat": stat, "loadavg": "0 0 0"})
    with pytest.raises(ValueError, match=reason):
        source(str(tmp_path), str(tmp_path)).read()


def test_a_core_that_goes_offline_during_the_reading_costs_one_reading(tmp_path: Path) -> None:
    other = RecordedSystem(proc("host-v1", "first"))
    with pytest.raises(ValueError, match="online or offline"):
        CpuSource(proc=proc("two-sockets", "second"), system=other).read()


def test_probe_names_the_file_that_is_not_there(tmp_path: Path) -> None:
    assert source(str(tmp_path), "").probe() == f"{tmp_path}/stat: no such file or directory"
    assert source(proc("two-sockets", "first"), "").probe() is None


def test_frequencies_are_read_seldom_and_a_clock_that_cores_share_is_counted_once(tmp_path: Path) -> None:
    shutil.copytree(proc("two-sockets", "second"), tmp_path / "proc")
    clock = Clock()
    cpu = source(str(tmp_path / "proc"), str(tmp_path), clock)
    assert cpu.read().freq_mhz[0] == 2800.0
    (tmp_path / "proc/cpuinfo").write_text("processor : 0\ncpu MHz : 900.5\n")
    clock.at_s += FREQUENCIES_EVERY_S - 1
    assert cpu.read().freq_mhz[0] == 2800.0
    clock.at_s += 1
    reading = cpu.read()
    assert reading.freq_mhz == (900.5, *[None] * 126)
    assert "freq_mhz" not in reading.missing


def test_the_model_of_a_power_processor(tmp_path: Path) -> None:
    shutil.copytree(proc("host-v1", "first"), tmp_path / "proc")
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n")
    reading = source(str(tmp_path / "proc"), str(tmp_path)).read()
    assert reading.model_name == "POWER9, altivec supported"


def test_an_operating_system_without_proc(tmp_path: Path) -> None:
    mac = CpuSource(proc=f"{tmp_path}/proc", sys=f"{tmp_path}/sys", system=MacSystem())
    assert mac.probe() is None
    reading = mac.read()
    assert [core.user for core in reading.cores] == [1000, 2000]  # clock ticks
    assert (reading.total.user, reading.total.idle, reading.total.iowait) == (3000, 19000, 0)
    assert (reading.core_ids, reading.freq_mhz, reading.context_switches) == ((0, 1), (3200.0, None), 4000)
    assert (reading.running, reading.blocked, reading.load) == (None, None, (1.5, 1.0, 0.5))
    assert {"running", "blocked", "psi.cpu", "model_name"} <= reading.missing.keys()
