from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.host.memory import MemorySource
from hwtop.model.host.memory import MemoryReading
from tests.host import Clock, MacSystem, RecordedSystem, proc, write_tree


def source(root: str, at_s: float = 0.0) -> MemorySource:
    return MemorySource(proc=root, now=Clock(at_s), system=RecordedSystem(root))


def test_all_numbers_in_bytes() -> None:
    assert source(proc("two-sockets", "first"), 3.0).read() == MemoryReading(
        at_s=3.0,
        total_bytes=1056508300 * 1024,
        available_bytes=805306368 * 1024,
        free_bytes=512340000 * 1024,
        buffers_bytes=412340 * 1024,
        cached_bytes=301989888 * 1024,
        shmem_bytes=16 * 1024**3,
        dirty_bytes=20 * 1024**2,
        swap_total_bytes=8388604 * 1024,
        swap_free_bytes=6291452 * 1024,
        pages_swapped_in=1000,
        pages_swapped_out=2000,
        major_faults=768,
        oom_kills=1,
        file_refaults=4000,
    )


def test_buffers_and_cache_are_those_of_free(tmp_path: Path) -> None:
    """procps counts SReclaimable as cached, and adds Buffers for its column buff/cache."""
    recorded = Path(proc("two-sockets", "first"))
    meminfo = (recorded / "meminfo").read_text() + "SReclaimable:    2000000 kB\nSUnreclaim: 700 kB\n"
    write_tree(tmp_path, {"meminfo": meminfo, "vmstat": (recorded / "vmstat").read_text()})
    reading = source(str(tmp_path)).read()
    assert (reading.buffers_bytes, reading.cached_bytes) == (412340 * 1024, (301989888 + 2000000) * 1024)


def test_a_counter_that_an_old_kernel_lacks_has_a_reason() -> None:
    reading = source(proc("host-v1", "first")).read()
    assert reading.oom_kills is None
    assert reading.major_faults == 12
    assert reading.file_refaults == 4000  # under its old name
    assert set(reading.missing) == {"oom_kills"}
    assert "has no oom_kill" in reading.missing["oom_kills"]


@pytest.mark.filterwarnings("ignore:'sin' and 'sout'")
def test_without_vmstat_memory_is_still_read(tmp_path: Path) -> None:
    meminfo = Path(proc("host-v1", "first"), "meminfo").read_text()
    write_tree(tmp_path, {"meminfo": meminfo})
    reading = source(str(tmp_path)).read()
    assert reading.total_bytes == 16384 * 1024
    assert reading.pages_swapped_in is None
    assert set(reading.missing) == {
        "dirty_bytes",
        "pages_swapped_in",
        "pages_swapped_out",
        "major_faults",
        "oom_kills",
        "file_refaults",
    }
    assert reading.missing["major_faults"] == f"{tmp_path}/vmstat: no such file or directory"


@pytest.mark.parametrize("meminfo", ["", "MemTotal: 10 kB\nMemAva", "\0\0\0", "MemTotal: x kB\n"])
def test_a_cut_meminfo_is_a_reason_and_never_zero(tmp_path: Path, meminfo: str) -> None:
    write_tree(tmp_path, {"meminfo": meminfo, "vmstat": ""})
    with pytest.raises(ValueError, match=r"cannot parse .*/meminfo"):
        source(str(tmp_path)).read()


def test_probe_names_the_file_that_is_not_there(tmp_path: Path) -> None:
    assert source(str(tmp_path)).probe() == f"{tmp_path}/meminfo: no such file or directory"


def test_an_operating_system_without_proc(tmp_path: Path) -> None:
    mac = MemorySource(proc=str(tmp_path / "none"), system=MacSystem())
    assert mac.probe() is None
    reading = mac.read()
    assert (reading.total_bytes, reading.available_bytes, reading.swap_total_bytes) == (16 << 30, 6 << 30, 2 << 30)
    assert (reading.cached_bytes, reading.dirty_bytes) == (None, None)
    assert reading.missing["cached_bytes"] == "not reported on this operating system"
    assert reading.missing["dirty_bytes"].endswith("/vmstat: no such file or directory")
