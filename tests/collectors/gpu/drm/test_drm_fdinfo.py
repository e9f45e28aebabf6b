"""Clients of a GPU as the kernel prints them, and what they did between two reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.gpu.drm.fdinfo import Client, ClientFinder, Usage, engine_shares, parse_client
from tests.collectors.sysfs_tree import drm_process
from tests.host import Clock

HEAD = "pos:\t0\nflags:\t02100002\nmnt_id:\t26\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"


def client(busy: int, *, client_id: int = 1, total: int | None = None, capacity: int | None = None) -> Client:
    return Client(
        pid=5,
        driver="xe",
        pci_bus_id="0000:03:00.0",
        client_id=client_id,
        busy={"ccs": busy},
        total_cycles={} if total is None else {"ccs": total},
        capacity={} if capacity is None else {"ccs": capacity},
        memory={},
    )


@pytest.mark.parametrize(
    ("lines", "memory"),
    [
        ("drm-memory-vram:\t60060 KiB", {"vram": 60060 << 10}),
        ("drm-memory-gtt: \t2 MiB", {"gtt": 2 << 20}),
        ("drm-total-vram:\t9 MiB\ndrm-resident-vram:\t4 MiB\ndrm-memory-vram:\t5 MiB", {"vram": 4 << 20}),
        ("drm-total-local0:\t4096", {"local0": 4096}),
        ("drm-memory-vram:\t-3 KiB\ndrm-resident-gtt:\tmany", {}),
    ],
)
def test_memory_that_is_there(lines: str, memory: dict[str, int]) -> None:
    parsed = parse_client(HEAD + lines + "\n", 5)
    assert parsed is not None
    assert parsed.memory == memory


def test_engines_and_how_many_there_are() -> None:
    parsed = parse_client(HEAD + "drm-engine-gfx:\t12 ns\ndrm-engine-capacity-video:\t2\ndrm-engine-video:\t0 ns\n", 5)
    assert parsed is not None
    assert (parsed.busy, parsed.capacity) == ({"gfx": 12, "video": 0}, {"video": 2})


@pytest.mark.parametrize("text", ["", "pos:\t0\n", "drm-driver:\tnouveau\n", "drm-driver:\txe\ndrm-client-id:\tx\n"])
def test_what_is_no_client(text: str) -> None:
    assert parse_client(text, 5) is None


@pytest.mark.parametrize(
    ("before", "now", "share"),
    [
        (client(0), client(10**9), 50.0),
        (client(5), client(5), 0.0),
        (client(9), client(3), 0.0),  # the kernel lets counters lag
        (client(0), client(9 * 10**9), 100.0),
        (client(0, capacity=4), client(4 * 10**9, capacity=4), 50.0),
        (client(0, total=100), client(30, total=200), 30.0),
        (client(0, total=100), client(0, total=100), None),
    ],
)
def test_share_of_an_engine_in_two_seconds(before: Client, now: Client, share: float | None) -> None:
    shares = engine_shares(Usage(100.0, (before,)), Usage(102.0, (now,)))
    assert shares == {("0000:03:00.0", 1): {} if share is None else {"ccs": share}}


def test_new_clients_have_no_share_yet() -> None:
    assert engine_shares(Usage(100.0), Usage(102.0, (client(10**9),))) == {}


def test_processes_that_come_and_go(tmp_path: Path) -> None:
    finder = ClientFinder(str(tmp_path / "proc"), {"amdgpu"}, Clock())
    for pid in range(1000, 1010):
        drm_process(tmp_path, pid)
    assert finder.read().clients == ()
    drm_process(tmp_path, 2000, fd9=HEAD)
    drm_process(tmp_path, 2001, fd9=HEAD.replace("amdgpu", "nouveau"))
    assert [found.pid for found in finder.read().clients] == [2000]
    drm_process(tmp_path, 1003, fd4=HEAD.replace("client-id:\t7", "client-id:\t8"))  # opened long after its start
    assert sorted(found.pid for found in finder.read().clients) == [1003, 2000]
    for name in ("fd/9", "fdinfo/9"):
        (tmp_path / "proc/2000" / name).unlink()
    assert [found.pid for found in finder.read().clients] == [1003]
