"""Xid events on the fake NVML."""

from __future__ import annotations

from tests.fakenvml.fixture import FakeNvml, GpuProbe, are_ok

REGISTER = "nvmlDeviceRegisterEvents"


def fire(fake: FakeNvml, gpu: int, *codes: int) -> None:
    """One after the other, later than any Xid of the scenarios."""
    for number, code in enumerate(codes, 10):
        fake.set(gpu, xid=f"{number} {code}")


def registered(fake: FakeNvml, probe: GpuProbe, *gpus: int) -> None:
    probe.read_until(are_ok)
    probe.read_until(lambda _: all(fake.calls(REGISTER, gpu) for gpu in gpus))


def codes(probe: GpuProbe) -> list[list[int]]:
    return [[xid.code for xid in gpu.xids] for gpu in probe.read()]


def test_events_at_run_time(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("errors")  # its Xid 94 was before our time
    probe = fake_nvml.probe(1, 2)
    registered(fake_nvml, probe, 1, 2)
    assert codes(probe) == [[], []]
    fire(fake_nvml, 2, 31)
    first = probe.read_until(lambda gpus: bool(gpus[1].xids))
    fake_nvml.set(2, xid="20 74")
    both = probe.read_until(lambda gpus: len(gpus[1].xids) == 2)
    assert [xid.code for xid in both[1].xids] == [31, 74]
    assert both[1].xids[0] == first[1].xids[0]
    assert both[1].xids[0].at_s < both[1].xids[1].at_s
    assert both[0].xids == ()


def test_a_storm_keeps_the_newest(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(0)
    registered(fake_nvml, probe, 0)
    fire(fake_nvml, 0, *range(1, 21))
    gpus = probe.read_until(lambda gpus: bool(gpus[0].xids) and gpus[0].xids[-1].code == 20)
    assert [xid.code for xid in gpus[0].xids] == list(range(5, 21))


def test_a_lost_gpu_keeps_its_xids(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(0, 3)
    registered(fake_nvml, probe, 0, 3)
    fire(fake_nvml, 3, 79)
    fake_nvml.fail(3, "nvmlDevice*", "GPU_IS_LOST")
    gpus = probe.read_until(lambda gpus: gpus[1].status == "lost" and bool(gpus[1].xids))
    assert [xid.code for xid in gpus[1].xids] == [79]
    assert gpus[0].status == "ok"


def test_waiting_hangs(fake_nvml: FakeNvml) -> None:
    """The rows are read as ever, and hwtop can be left."""
    fake_nvml.sleep("system", "nvmlEventSetWait*", "hang")
    probe = fake_nvml.probe(0, 1)
    registered(fake_nvml, probe, 0, 1)
    fake_nvml.set(0, util=12)
    assert probe.read()[0].util_pct == 12.0
    probe.say("quit")
    assert probe.process.wait(60) == 0


def test_one_gpu_hangs_while_it_is_registered(fake_nvml: FakeNvml) -> None:
    """The others are watched all the same."""
    fake_nvml.sleep(0, REGISTER, "hang")
    probe = fake_nvml.probe(0, 1)
    registered(fake_nvml, probe, 0, 1)
    fire(fake_nvml, 1, 48)
    gpus = probe.read_until(lambda gpus: bool(gpus[1].xids))
    assert [xid.code for xid in gpus[1].xids] == [48]


def test_waiting_fails_for_a_while(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail("system", "nvmlEventSetWait*", "UNKNOWN")
    probe = fake_nvml.probe(0)
    registered(fake_nvml, probe, 0)
    fake_nvml.undo()
    asked = fake_nvml.calls(REGISTER, 0)
    probe.read_until(lambda _: fake_nvml.calls(REGISTER, 0) > asked)
    fire(fake_nvml, 0, 119)
    assert probe.read_until(lambda gpus: bool(gpus[0].xids))[0].xids[0].code == 119


def test_a_driver_without_events(fake_nvml: FakeNvml) -> None:
    """It is asked once, and never again."""
    fake_nvml.fail("all", REGISTER, "NOT_SUPPORTED")
    probe = fake_nvml.probe(0, 1)

    def reason() -> str | None:
        reading = probe.say("read").reading
        assert reading is not None
        return reading.missing.get("xids")

    probe.read_until(lambda _: reason() is not None)
    assert reason() == "these GPUs report no Xid events"
    waits = [function for function, _ in fake_nvml.trace() if function.startswith("nvmlEventSetWait")]
    assert (waits, fake_nvml.calls(REGISTER, 0)) == ([], 1)


def test_a_driver_that_does_not_wait_is_not_asked_all_the_time(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail("system", "nvmlEventSetWait*", "TIMEOUT")
    probe = fake_nvml.probe(0)
    registered(fake_nvml, probe, 0)
    for _ in range(30):
        probe.read()
    waits = [function for function, _ in fake_nvml.trace() if function.startswith("nvmlEventSetWait")]
    assert 1 <= len(waits) <= 3


def test_a_gpu_that_comes_later(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("system", gpus=2)
    probe = fake_nvml.probe()
    registered(fake_nvml, probe, 0, 1)
    fake_nvml.set("system", gpus=3)
    probe.say("advance 6")
    probe.read_until(lambda gpus: len(gpus) == 3 and are_ok(gpus))
    probe.read_until(lambda _: bool(fake_nvml.calls(REGISTER, 2)))
    fire(fake_nvml, 2, 94)
    gpus = probe.read_until(lambda gpus: bool(gpus[2].xids))
    assert [xid.code for xid in gpus[2].xids] == [94]
