"""NVLinks: on the fake NVML, and for generations it does not play, on drivers made of a table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Refused
from hwtop.collectors.gpu.nvidia.links import LinkReader
from hwtop.model.gpu.link import NvLink
from tests.fakenvml.fixture import FakeNvml

SWITCH = 2


class Driver:
    """Answers field values, and calls for one link, from two tables; refuses the rest. Counts its calls."""

    def __init__(self, fields: dict[int, Any], calls: dict[tuple[Any, ...], Any]) -> None:
        self.fields = fields
        self.answers = calls
        self.asked: list[str] = []

    def __call__(self, function: str, handle: object, *args: Any) -> Any:
        self.asked.append(function)
        if function == "nvmlDeviceGetFieldValues":
            return [self._field(number, scope) for number, scope in args[0]]
        link, *kind = args
        answer = self.answers.get((function, *kind), Refused(function, codes.NOT_SUPPORTED, "Not Supported"))
        if isinstance(answer, Refused):
            raise answer
        return answer[link] if isinstance(answer, list) else answer

    def _field(self, number: int, scope: int) -> Any:
        value = self.fields.get(number)
        value = value[scope] if isinstance(value, list) else value
        code = codes.SUCCESS if value is not None else codes.INVALID_ARGUMENT
        return SimpleNamespace(fieldId=number, nvmlReturn=code, valueType=3, value=SimpleNamespace(ullVal=value))


def read(reader: LinkReader, driver: Driver) -> tuple[NvLink, ...]:
    links = reader.question().read(driver, None)["nvlinks"]
    assert isinstance(links, tuple)
    return links


def test_healthy_links(fake_nvml: FakeNvml) -> None:
    links = fake_nvml.probe(0).read()[0].nvlinks
    assert links == tuple(
        NvLink(
            link=link,
            is_up=True,
            peer="switch",
            version=4,
            speed_bytes_per_s=26562e6,
            replay_errors=0,
            recovery_errors=0,
            crc_errors=0,
            ecc_errors=0,
        )
        for link in range(18)
    )


def test_errors_and_links_that_are_down(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("errors")
    fake_nvml.set(6, nvlink_ecc="5:2")
    gpus = fake_nvml.probe(5, 6).read()
    links = gpus[1].nvlinks or ()
    assert [link.link for link in links if not link.is_up] == [4, 11]
    assert (links[4].crc_errors, links[4].replay_errors, links[4].recovery_errors) == (120, 3, 0)
    assert (links[11].crc_errors, links[11].replay_errors, links[11].recovery_errors) == (9000, 0, 2)
    assert (links[5].crc_errors, links[5].ecc_errors) == (0, 2)
    assert all(link.is_up and not link.crc_errors for link in gpus[0].nvlinks or ())


def test_errors_that_come_later(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(3)
    probe.read()
    fake_nvml.set(3, nvlink_crc="7:5", nvlink_down="2")
    probe.say("advance 5")
    links = probe.read()[0].nvlinks or ()
    assert links[7].crc_errors == 5
    assert [link.link for link in links if not link.is_up] == [2]


def test_links_cost_one_call(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(3)
    probe.read()
    before = len(fake_nvml.trace())
    probe.read()
    each_tick = len(fake_nvml.trace()) - before
    probe.say("advance 1")
    assert fake_nvml.calls("nvmlDeviceGetNvLinkErrorCounter", 3) == 18
    for _ in range(2):
        probe.say("advance 5")
        probe.read()
    assert fake_nvml.calls("nvmlDeviceGetNvLinkErrorCounter", 3) == 18
    assert each_tick > 0


def test_links_between_gpus(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlink_peer="gpu")
    gpus = fake_nvml.probe().read()
    addresses = {gpu.pci_bus_id for gpu in gpus}
    for gpu in gpus:
        peers = [link.peer for link in gpu.nvlinks or ()]
        assert len(peers) == 18
        assert set(peers) == addresses - {gpu.pci_bus_id}


def test_a_gpu_without_links(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gtx1080")
    gpu = fake_nvml.probe().read()[0]
    assert gpu.nvlinks == ()
    assert not {field for field in gpu.missing if field.startswith("nvlinks")}


def test_links_that_may_not_be_read(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail(0, "nvmlDeviceGetFieldValues", "NO_PERMISSION")
    gpu = fake_nvml.probe(0).read()[0]
    assert gpu.nvlinks is None
    assert gpu.missing["nvlinks"] == "permission denied"


def test_bytes_over_all_links(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", nvlink_tx=1000, nvlink_rx=500)
    probe = fake_nvml.probe(0)
    counters = [probe.read()[0].counters for _ in range(2)]
    assert counters[0] is not None
    assert counters[1] is not None
    sent = (counters[1].nvlink_tx_bytes or 0) - (counters[0].nvlink_tx_bytes or 0)
    received = (counters[1].nvlink_rx_bytes or 0) - (counters[0].nvlink_rx_bytes or 0)
    assert sent > received > 0


def test_blackwell_counts_other_errors() -> None:
    """No replay and CRC counters any more; recoveries and bad packets in new fields."""
    driver = Driver({91: 2, 165: 1, 215: [0, 3], 208: [0, 40], 166: 7, 164: 53125, 147: 2}, {})
    reader = LinkReader()
    answers = reader.question().read(driver, None)
    healthy, sick = answers["nvlinks"]
    assert (healthy.version, healthy.speed_bytes_per_s, healthy.peer) == (5, 53125e6, "switch")
    assert (sick.recovery_errors, sick.packet_errors) == (3, 40)
    assert (sick.replay_errors, sick.crc_errors, sick.ecc_errors) == (None, None, None)
    gaps = {"nvlinks.replay_errors", "nvlinks.crc_errors", "nvlinks.ecc_errors"}
    assert {name for name, answer in answers.items() if isinstance(answer, Refused)} == gaps
    driver.asked.clear()
    read(reader, driver)
    assert driver.asked == ["nvmlDeviceGetFieldValues"]


def test_an_old_driver_is_asked_link_by_link_but_seldom() -> None:
    counter = "nvmlDeviceGetNvLinkErrorCounter"
    driver = Driver(
        {91: 2},
        {
            ("nvmlDeviceGetNvLinkState",): [1, 0],
            ("nvmlDeviceGetNvLinkVersion",): 4,
            ("nvmlDeviceGetNvLinkRemoteDeviceType",): SWITCH,
            (counter, 0): [0, 1],
            (counter, 1): [0, 2],
            (counter, 2): [0, 3],
            (counter, 4): [0, 4],
        },
    )
    reader = LinkReader()
    up, down = read(reader, driver)
    assert (up.is_up, up.version, up.peer, up.crc_errors) == (True, 3, "switch", 0)
    assert (down.is_up, down.replay_errors, down.recovery_errors) == (False, 1, 2)
    assert (down.crc_errors, down.ecc_errors) == (3, 4)
    driver.asked.clear()
    for _ in range(10):
        read(reader, driver)
    assert driver.asked == []


def test_counters_that_a_link_refuses_while_it_is_down_are_not_given_up() -> None:
    """At the start of a machine all links may be down: what they refuse then says nothing about later."""
    driver = Driver({91: 2, 165: 0, 147: 0}, {})
    reader = LinkReader()
    for link in read(reader, driver):
        assert (link.is_up, link.crc_errors, link.missing["crc_errors"]) == (False, None, "link is down")
    driver.fields |= {165: 1, 161: 0, 162: 0, 163: 7, 147: 2}
    links = read(reader, driver)
    assert [(link.is_up, link.crc_errors, link.peer) for link in links] == [(True, 7, "switch")] * 2
