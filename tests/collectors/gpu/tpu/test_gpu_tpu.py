"""TPUs on made-up PCI trees, with a real gRPC server that speaks libtpu's metric service."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.gpu.tpu import metrics
from hwtop.collectors.gpu.tpu import wire as tpu_wire
from hwtop.collectors.gpu.tpu.metrics import DUTY_CYCLE, HBM_BANDWIDTH, MEM_TOTAL, MEM_USED, TpuMetrics, ports_of
from hwtop.collectors.gpu.tpu.sdk import TensorCores
from hwtop.collectors.gpu.tpu.vendor import GpuTpuSource
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuProcess
from tests.collectors.tpu_service import PROTO, Libtpu, Serve, answer, holder, tpu_machine
from tests.fakenvml.fixture import unexplained
from tests.host import Clock

GIB = 2**30


@pytest.fixture(autouse=True)
def _a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_DEADLINE_S", 60.0)


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[Libtpu] = []

    def start(values: dict[str, dict[int, float]]) -> Libtpu:
        servers.append(Libtpu(values))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def source(root: Path, *ports: int, now: Clock | None = None) -> GpuTpuSource:
    (root / "proc").mkdir(exist_ok=True)
    return GpuTpuSource(now=now or Clock(), sys=str(root / "sys"), proc=str(root / "proc"), ports=ports)


def rows(source: GpuTpuSource) -> tuple[Gpu, ...]:
    assert source.probe() is None
    return source.read().gpus


def test_a_machine_without_one_says_so(tmp_path: Path) -> None:
    assert (source(tmp_path).probe() or "").startswith("no TPU")
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    assert (source(tmp_path).probe() or "").startswith("no TPU")


def test_chips_of_one_core_with_their_owner(tmp_path: Path, serve: Serve) -> None:
    tpu_machine(tmp_path, "0x0063", "0x0056", [0, 1, 2, 10])
    holder(tmp_path, 700, "/dev/null", "/dev/vfio/0", "/dev/vfio/1", "/dev/vfio/2", "/dev/vfio/10")
    server = serve(
        {
            DUTY_CYCLE: {8: 100.0, 9: 99.5, 12: 0.0, 13: 42.0},  # numbered over the slice
            MEM_USED: {8: 18 * GIB, 9: 10 * GIB, 12: 0, 13: GIB},
            MEM_TOTAL: dict.fromkeys((8, 9, 12, 13), 31 * GIB),
            HBM_BANDWIDTH: {8: 61.0, 9: 60.0, 12: 0.0, 13: 5.0},
        }
    )
    gpus = rows(source(tmp_path, server.port))
    assert [gpu.index for gpu in gpus] == [0, 1, 2, 3]
    assert {(gpu.vendor, gpu.name, gpu.status) for gpu in gpus} == {("tpu", "TPU v5e", "ok")}
    assert [gpu.pci_bus_id for gpu in gpus] == [f"0000:00:0{place}" for place in (4, 5, 6, 7)]
    assert [gpu.util_pct for gpu in gpus] == [100.0, 99.5, 0.0, 42.0]
    assert [gpu.mem_used_bytes for gpu in gpus] == [18 * GIB, 10 * GIB, 0, GIB]
    assert {gpu.mem_total_bytes for gpu in gpus} == {31 * GIB}
    assert gpus[0].activity == GpuActivity(dram_bw_pct=61.0)
    assert {gpu.processes for gpu in gpus} == {(GpuProcess(pid=700, mem_bytes=None),)}
    assert unexplained(gpus[0]) == set(), "every missing number has its reason"
    assert {"power_w", "temp_c", "sm_clock_mhz", "throttle", "activity.tensor_active_pct"} < set(gpus[0].missing)
    assert {"util_pct", "mem_used_bytes", "processes"}.isdisjoint(gpus[0].missing)


@pytest.mark.parametrize(("subsystem", "kind"), [("0x004e", "TPU v2"), ("0x004f", "TPU v3")])
def test_two_cores_make_one_chip(tmp_path: Path, serve: Serve, subsystem: str, kind: str) -> None:
    tpu_machine(tmp_path, "0x0027", subsystem, [0, 1], accels=True)
    holder(tmp_path, 700, "/dev/accel0", "/dev/accel1")
    server = serve(
        {
            DUTY_CYCLE: {0: 90.0, 1: 30.0},
            MEM_USED: {0: GIB, 1: 2 * GIB, 2: 3 * GIB, 3: 4 * GIB},
            MEM_TOTAL: dict.fromkeys(range(4), 8 * GIB),
        }
    )
    gpus = rows(source(tmp_path, server.port))
    assert [gpu.name for gpu in gpus] == [kind, kind]
    assert [gpu.util_pct for gpu in gpus] == [90.0, 30.0]
    assert [gpu.mem_used_bytes for gpu in gpus] == [3 * GIB, 7 * GIB]
    assert {gpu.mem_total_bytes for gpu in gpus} == {16 * GIB}
    assert gpus[0].processes == (GpuProcess(pid=700, mem_bytes=None),)


def test_a_chip_with_two_functions_is_one_row(tmp_path: Path, serve: Serve) -> None:
    tpu_machine(tmp_path, "0x0076", "0x0056", [0, 2])
    for place, group in ((4, 1), (5, 3)):
        second = tmp_path / f"sys/bus/pci/devices/0000:00:{place:02x}.1"
        second.mkdir()
        for name, text in {"vendor": "0x1ae0", "device": "0x0076"}.items():
            (second / name).write_text(text)
        (second / "iommu_group").symlink_to(f"/sys/kernel/iommu_groups/{group}")
    server = serve({DUTY_CYCLE: {0: 80.0, 1: 60.0, 2: 10.0, 3: 30.0}, MEM_USED: dict.fromkeys(range(4), GIB)})
    gpus = rows(source(tmp_path, server.port))
    assert [(gpu.name, gpu.util_pct, gpu.mem_used_bytes) for gpu in gpus] == [
        ("TPU7x", 70.0, 2 * GIB),
        ("TPU7x", 20.0, 2 * GIB),
    ]


def test_tensor_cores_stand_beside_what_the_service_tells(tmp_path: Path, serve: Serve) -> None:
    class MetricValue(TensorCores):
        def read(self) -> tuple[float, ...]:
            return (10.0, 20.0, 30.0, 50.0)

    tpu_machine(tmp_path, "0x0027", "0x004f", [0, 1], accels=True)
    server = serve({DUTY_CYCLE: {0: 90.0, 1: 30.0}})
    (tmp_path / "proc").mkdir()
    clock = Clock()
    sys_root, proc = str(tmp_path / "sys"), str(tmp_path / "proc")
    gpus = rows(GpuTpuSource(clock, sys_root, proc, (server.port,), MetricValue(clock)))
    assert [gpu.activity for gpu in gpus] == [GpuActivity(tensor_active_pct=15.0), GpuActivity(tensor_active_pct=40.0)]
    assert gpus[0].missing["activity.dram_bw_pct"] == "not reported by libtpu"


def test_numbers_of_a_part_go_to_the_chips_in_use_or_to_nobody(tmp_path: Path, serve: Serve) -> None:
    tpu_machine(tmp_path, "0x006f", "0x0056", [0, 1, 2, 3])
    holder(tmp_path, 700, "/dev/vfio/2")
    server = serve({DUTY_CYCLE: {0: 77.0}, MEM_USED: {0: GIB}, MEM_TOTAL: {0: 31 * GIB, 1: 31 * GIB}})
    gpus = rows(source(tmp_path, server.port))
    assert [gpu.util_pct for gpu in gpus] == [None, None, 77.0, None]
    assert gpus[2].mem_used_bytes == GIB and gpus[2].mem_total_bytes is None
    assert "but not which" in gpus[2].missing["mem_total_bytes"]
    assert "but not which" in gpus[0].missing["util_pct"]
    assert gpus[0].processes == () and gpus[2].processes == (GpuProcess(pid=700, mem_bytes=None),)


def test_an_idle_chip_has_a_row_and_the_reason(tmp_path: Path, closed_port: int) -> None:
    tpu_machine(tmp_path, "0x005e", "0x004f", [0, 1], accels=True)
    gpus = rows(source(tmp_path, closed_port))
    assert [(gpu.name, gpu.status, gpu.util_pct, gpu.mem_used_bytes) for gpu in gpus] == [
        ("TPU v4", "ok", None, None)
    ] * 2
    assert "only a program that uses the TPU" in gpus[0].missing["util_pct"]
    holder(tmp_path, 700, "/dev/accel1")
    gpus = rows(source(tmp_path, closed_port))
    assert "started without its metric service" in gpus[0].missing["util_pct"]


def test_the_first_port_that_answers_speaks_for_all(tmp_path: Path, serve: Serve, closed_port: int) -> None:
    tpu_machine(tmp_path, "0x0063", "0x0056", [0])
    server = serve({DUTY_CYCLE: {0: 12.0}})
    tpu = source(tmp_path, closed_port, server.port)
    assert [rows(tpu)[0].util_pct, rows(tpu)[0].util_pct] == [12.0, 12.0]


def test_a_program_that_hangs_costs_a_stale_row_and_comes_back(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    tpu_machine(tmp_path, "0x0063", "0x0056", [0])
    server = serve({DUTY_CYCLE: {0: 12.0}})
    clock = Clock()
    tpu = source(tmp_path, server.port, now=clock)
    assert rows(tpu)[0].status == "ok"
    server.go_on.clear()
    clock.at_s += 7.0
    monkeypatch.setattr(metrics, "_DEADLINE_S", 0.1)
    late = tpu.read().gpus[0]
    assert (late.status, late.age_s, late.util_pct) == ("stale", 7.0, 12.0)
    assert "no answer within" in (late.reason or "")
    monkeypatch.setattr(metrics, "_DEADLINE_S", 60.0)
    server.go_on.set()
    assert tpu.read().gpus[0].status == "ok"


def test_a_metric_that_libtpu_does_not_know_is_asked_again_rarely(tmp_path: Path, serve: Serve) -> None:
    tpu_machine(tmp_path, "0x0063", "0x0056", [0])
    server = serve({DUTY_CYCLE: {0: 12.0}, MEM_USED: {0: 1}, MEM_TOTAL: {0: 2}})
    clock = Clock()
    tpu = source(tmp_path, server.port, now=clock)
    for _ in range(3):
        gpu = rows(tpu)[0]
        assert (gpu.status, gpu.util_pct, gpu.activity) == ("ok", 12.0, None)
        assert gpu.missing["activity"] == "not reported by libtpu"
    assert server.asked.count(HBM_BANDWIDTH) == 1
    clock.at_s += 61.0
    server.values[HBM_BANDWIDTH] = {0: 30.0}
    assert rows(tpu)[0].activity == GpuActivity(dram_bw_pct=30.0)


def test_without_grpcio_the_reason_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    tpu_machine(tmp_path, "0x0063", "0x0056", [0])
    holder(tmp_path, 700, "/dev/vfio/0")
    gpu = rows(source(tmp_path, 1))[0]
    assert gpu.status == "ok" and gpu.processes == (GpuProcess(pid=700, mem_bytes=None),)
    assert "pip install 'hwtop[tpu]'" in gpu.missing["util_pct"]


def test_what_is_no_metric_service_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_DEADLINE_S", 0.1)
    with socket.create_server(("localhost", 0)) as mute, pytest.raises(CannotError, match="metric service"):
        TpuMetrics((mute.getsockname()[1],)).ask(DUTY_CYCLE)


@pytest.mark.parametrize(
    ("env", "chips", "ports"),
    [
        ({}, 4, (8431, 8432, 8433, 8434)),
        ({}, 0, (8431,)),
        ({"TPU_RUNTIME_METRICS_PORTS": "9000, 9001"}, 4, (9000, 9001)),
    ],
)
def test_where_to_ask(env: dict[str, str], chips: int, ports: tuple[int, ...]) -> None:
    assert ports_of(env, chips) == ports


def test_the_wire_is_what_protobuf_writes() -> None:
    request = PROTO["MetricRequest"](metric_name=DUTY_CYCLE)
    assert tpu_wire.request(DUTY_CYCLE) == request.SerializeToString()
    assert tpu_wire.response(answer("x", {0: 0.0, 300: 12.5, 7: 2**40})) == {0: 0.0, 300: 12.5, 7: 2.0**40}
    assert tpu_wire.response(answer("x", {3: 1.0}, has_text_ids=True)) == {3: 1.0}
    assert tpu_wire.response(b"") == {}


@pytest.mark.parametrize("cut", [1, 2, 5, 20, 30])
def test_a_message_that_is_cut_short_is_refused(cut: int) -> None:
    whole = answer("tpu.runtime", {0: 1.0})
    with pytest.raises(ValueError, match=r"cut short|unknown"):
        tpu_wire.response(whole[:-cut])
