"""What every host source promises, on recorded machines and on the one that runs the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from hwtop.collectors.host.cgroup import CgroupSource
from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.source import Source
from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.host.cpu import CpuReading
from hwtop.model.host.disk import DiskReading
from hwtop.model.host.memory import MemoryReading
from hwtop.model.host.network import NetworkReading
from hwtop.model.plan import SamplingPlan
from tests.host import HOST, RecordedSystem

SOURCES: dict[str, Callable[..., Source]] = {
    "cpu": CpuSource,
    "cgroup": CgroupSource,
    "memory": MemorySource,
    "disk": DiskSource,
    "network": NetworkSource,
}
PROMISED: dict[str, type[msgspec.Struct]] = {
    "cpu": CpuReading,
    "cgroup": CgroupReading,
    "memory": MemoryReading,
    "disk": DiskReading,
    "network": NetworkReading,
}
TREES = {
    "cpu": ["two-sockets/first", "two-sockets/second", "host-v1/first", "host-v1/second"],
    "cgroup": ["container-v2/first", "container-v2/second", "pod-v2", "host-v1/first", "container-v1"],
    "memory": ["two-sockets/first", "two-sockets/second", "host-v1/first"],
    "disk": ["two-sockets/first", "two-sockets/second", "host-v1/first"],
    "network": ["two-sockets/first", "infiniband/first", "infiniband/second", "host-v1/first"],
}
RECORDED: list[tuple[str, str | None]] = [(name, tree) for name, trees in TREES.items() for tree in trees]
LIVE: list[tuple[str, str | None]] = [(name, None) for name in SOURCES]

NONE_MEANS_NO_LIMIT = {"cpu_quota_cores", "mem_limit_bytes", "mem_high_bytes", "pids_limit", "pids_used"}


def built(name: str, tree: str | None) -> Source:
    if tree is None:
        return SOURCES[name]()
    root = HOST / tree
    sys = root / "sys" if (root / "sys").exists() else root.parent / "sys"
    return at(name, str(root / "proc"), str(sys), RecordedSystem(str(root / "proc")))


def at(name: str, proc: str, sys: str, system: object) -> Source:
    options: dict[str, object] = {} if name == "memory" else {"sys": sys}
    if name != "cgroup":
        options["system"] = system
    return SOURCES[name](proc=proc, **options)


class NothingReadable:
    """psutil on a machine where every file is refused."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., object]:
        def refuse(*args: object, **options: object) -> object:
            raise FileNotFoundError(2, "No such file or directory", self._path)

        return refuse


def reading_of(source: Source) -> msgspec.Struct | None:
    """None where this machine has no such thing and says so in one line."""
    reason = source.probe()
    assert reason is None or (reason and "\n" not in reason)
    return None if reason else source.read()


@pytest.mark.parametrize(("name", "tree"), RECORDED)
def test_a_recorded_machine_can_be_read(name: str, tree: str) -> None:
    assert reading_of(built(name, tree)) is not None


@pytest.mark.parametrize(("name", "tree"), RECORDED + LIVE)
def test_a_reading_has_the_promised_types_and_survives_being_sent(name: str, tree: str | None) -> None:
    source = built(name, tree)
    assert source.name == name
    reading = reading_of(source)
    if reading is not None:
        assert type(reading) is PROMISED[name]
        # decoding checks every field against its annotation
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(reading), type=PROMISED[name]) == reading


@pytest.mark.parametrize(("name", "tree"), RECORDED + LIVE)
def test_what_is_none_has_a_reason_of_one_line(name: str, tree: str | None) -> None:
    reading = reading_of(built(name, tree))
    fields = {} if reading is None else msgspec.structs.asdict(reading)
    missing: dict[str, str] = fields.get("missing", {})
    unknown = {field for field, value in fields.items() if value is None} - NONE_MEANS_NO_LIMIT
    assert unknown <= missing.keys()
    assert all(reason and "\n" not in reason for reason in missing.values())


@pytest.mark.parametrize("name", SOURCES)
def test_time_does_not_go_back_and_an_empty_aim_changes_nothing(name: str) -> None:
    source = built(name, None)
    first = reading_of(source)
    source.set_plan(SamplingPlan())
    if first is not None:
        second = source.read()
        assert second is not None
        before, after = msgspec.structs.asdict(first), msgspec.structs.asdict(second)
        assert after["at_s"] >= before["at_s"]
        assert after["missing"] == before["missing"]
    source.close()


@pytest.mark.parametrize("name", SOURCES)
def test_a_machine_without_proc_is_a_reason(name: str, tmp_path: Path) -> None:
    source = at(name, f"{tmp_path}/proc", f"{tmp_path}/sys", NothingReadable(f"{tmp_path}/proc/stat"))
    if name == "disk":  # of two parts, each of which says why it is missing
        reading = source.read()
        assert isinstance(reading, DiskReading)
        assert set(reading.missing) == {"disks", "mounts"}
    else:
        assert f"{tmp_path}/proc" in (source.probe() or "")
