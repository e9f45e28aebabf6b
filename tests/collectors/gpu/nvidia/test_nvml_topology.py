"""The ways between GPUs, on the fake NVML."""

from __future__ import annotations

from hwtop.model.gpu.link import Topology
from tests.fakenvml.fixture import FakeNvml, GpuProbe, are_ok

FUNCTION = "nvmlDeviceGetTopologyCommonAncestor"


def topology(probe: GpuProbe) -> Topology:
    """Of the first reading that has one."""
    found: list[Topology] = []

    def is_there(_: object) -> bool:
        reading = probe.say("read").reading
        assert reading is not None
        if reading.topology is not None:
            found.append(reading.topology)
        return bool(found)

    probe.read_until(is_there)
    return found[0]


def test_nvlinks_through_switches(fake_nvml: FakeNvml) -> None:
    way = topology(fake_nvml.probe())
    assert way.indexes == tuple(range(8))
    for row in range(8):
        for column in range(8):
            is_self = row == column
            assert way.paths[row][column] == ("SELF" if is_self else "NVLINK")
            assert way.links[row][column] == (0 if is_self else 18)


def test_a_gpu_with_links_down_has_fewer(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("errors")
    way = topology(fake_nvml.probe())
    assert [row[6] for row in way.links] == [16, 16, 16, 16, 16, 16, 0, 16]
    assert way.links[0][1] == 18


def test_links_from_gpu_to_gpu(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlink_peer="gpu")
    way = topology(fake_nvml.probe())
    for row in range(8):
        assert sum(way.links[row]) in range(18, 22)
        assert all(way.links[row][column] == way.links[column][row] for column in range(8))


def test_two_sockets_without_nvlink(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlinks=0)
    fake_nvml.set("0-1", switch="a")
    way = topology(fake_nvml.probe())
    assert way.paths[0] == ("SELF", "PIX", "NODE", "NODE", "SYS", "SYS", "SYS", "SYS")
    assert way.paths[5] == ("SYS", "SYS", "SYS", "SYS", "NODE", "SELF", "NODE", "NODE")
    assert not any(map(any, way.links))


def test_asked_once(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    topology(probe)
    for _ in range(5):
        probe.say("advance 40")
        probe.read()
    asked = [function for function, _ in fake_nvml.trace() if function == FUNCTION]
    assert len(asked) == 2 * 28  # the fake notes each call for both GPUs


def test_a_lost_gpu_is_reached_by_no_known_way(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    topology(probe)
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    probe.read_until(lambda gpus: gpus[3].status == "lost")
    way = topology(probe)
    assert way.paths[3] == ("UNKNOWN", "UNKNOWN", "UNKNOWN", "SELF", *["UNKNOWN"] * 4)
    assert (way.paths[0][3], way.paths[0][1]) == ("UNKNOWN", "NVLINK")
    assert not any(way.links[3])
    fake_nvml.undo()
    probe.read_until(are_ok)
    assert topology(probe).paths[3][0] == "NVLINK"


def test_a_gpu_that_was_lost_at_the_start(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlinks=0)
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    probe = fake_nvml.probe()
    way = topology(probe)
    assert (way.paths[0][3], way.paths[0][1]) == ("UNKNOWN", "NODE")
    fake_nvml.fail(3, "*", "0")
    probe.say("advance 60")
    probe.read_until(are_ok)
    probe.read_until(lambda _: topology(probe).paths[0][3] == "NODE")


def test_a_gpu_that_comes_later(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlinks=0)
    fake_nvml.set("system", gpus=4)
    probe = fake_nvml.probe()
    assert len(topology(probe).indexes) == 4
    fake_nvml.set("system", gpus=5)
    probe.say("advance 40")
    probe.read_until(lambda gpus: len(gpus) == 5 and are_ok(gpus))
    probe.read_until(lambda _: topology(probe).paths[4] == ("SYS", "SYS", "SYS", "SYS", "SELF"))


def test_topology_hangs(fake_nvml: FakeNvml) -> None:
    """The rows come all the same, and it is said what is missing."""
    fake_nvml.sleep("all", FUNCTION, "hang")
    probe = fake_nvml.probe(0, 1)
    probe.read_until(are_ok)
    probe.say("advance 5")
    reading = probe.say("read").reading
    assert reading is not None
    assert are_ok(reading.gpus)
    assert reading.topology is None
    assert reading.missing["topology"].startswith("driver not answering for 5 s")
    probe.say("quit")
    assert probe.process.wait(60) == 0


def test_one_gpu_has_no_ways(fake_nvml: FakeNvml) -> None:
    reading = fake_nvml.probe(0).say("read").reading
    assert reading is not None
    assert (reading.topology, reading.missing["topology"]) == (None, "only one GPU")
