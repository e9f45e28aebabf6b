"""pcie-degraded and nvlink-errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuCounters
from hwtop.model.gpu.health import XidEvent
from hwtop.model.gpu.link import NvLink
from hwtop.symptoms.gpu.link import check_nvlink, check_pcie
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import derived, event, gpu, history, job, rank, seen_with_log

WATCHED = job(*(rank(number, gpus=(number,)) for number in range(4)))
SLOW: dict[str, Any] = {"pcie_gen": 3, "pcie_width": 8}


def watch(at: Callable[[int], Sequence[Gpu]], seconds: int = 20) -> History:
    return history(seconds, lambda second: derived(float(second), WATCHED, gpus=tuple(at(second))))


@pytest.mark.parametrize(
    ("odd", "peer", "severity"),
    [
        ({}, {}, None),
        ({"pcie_width": 8}, {}, "warning"),
        ({"pcie_gen": 4}, {}, "warning"),
        (SLOW | {"util_pct": 50.0}, {}, None),  # idle: it saves power
        (SLOW | {"util_pct": 51.0}, {}, "warning"),
        (SLOW | {"util_pct": None}, {}, None),
        ({"pcie_gen": 4}, {"pcie_gen": 4}, "info"),  # the host gives no more
        ({"pcie_width": 8}, {"pcie_width": 8}, "info"),
        ({"pcie_width": None, "pcie_gen": None}, {}, None),
        ({"pcie_width": 0, "pcie_gen": 0}, {}, None),
        (SLOW | {"mem_total_bytes": None}, {}, None),  # it shares the host's memory
    ],
)
def test_a_link_is_judged_under_load_and_beside_its_peers(
    odd: dict[str, Any], peer: dict[str, Any], severity: str | None
) -> None:
    seen = check_pcie(watch(lambda _: (gpu(0, **odd), gpu(1, **peer), gpu(2, **peer))))
    assert (seen.severity if seen is not None else None) == severity


def test_one_gpu_alone() -> None:
    narrow = check_pcie(watch(lambda _: (gpu(0, pcie_width=4),)))
    old = check_pcie(watch(lambda _: (gpu(0, pcie_gen=3),)))
    assert narrow is not None
    assert old is not None
    assert (narrow.severity, old.severity) == ("warning", "info")


def test_the_link_that_wakes_up_is_well() -> None:
    assert check_pcie(watch(lambda second: (gpu(0, pcie_gen=1 if second < 19 else 5), gpu(1)))) is None
    assert check_pcie(watch(lambda second: (gpu(0, **SLOW, util_pct=90.0 if second > 16 else 10.0), gpu(1)))) is None


def test_a_slow_link_is_told_with_its_numbers() -> None:
    seen = check_pcie(watch(lambda _: (gpu(0), gpu(1), gpu(2, **SLOW))))
    assert seen is not None
    assert (
        seen.title == "GPU 2: PCIe 3.0 x8 instead of 5.0 x16 (8 of 63 GB/s) while it works; GPUs 0-1 have the full link"
    )
    assert seen.ranks == (2,)


@pytest.mark.parametrize(
    ("replays", "severity"),
    [
        (lambda second: 4711, None),
        (lambda second: 0 if second < 100 else 50, None),  # one burst
        (lambda second: second // 40, "info"),
        (lambda second: second // 7, "warning"),  # 8.5 a minute
        (lambda second: None, None),
        (lambda second: 500 - second, None),
    ],
)
def test_replays_must_go_on_for_two_minutes(replays: Callable[[int], int | None], severity: str | None) -> None:
    seen = check_pcie(watch(lambda second: (gpu(0, counters=GpuCounters(pcie_replays=replays(second))),), 120))
    assert (seen.severity if seen is not None else None) == severity
    assert check_pcie(watch(lambda second: (gpu(0, counters=GpuCounters(pcie_replays=second)),), 100)) is None


def links(down: Sequence[int] = (), count: int = 4, **errors: Any) -> tuple[NvLink, ...]:
    """Errors are those of link 1."""
    return tuple(NvLink(link=n, is_up=n not in down, **(errors if n == 1 else {})) for n in range(count))


def nvlinked(index: int, *arguments: Any, **fields: Any) -> Gpu:
    return gpu(index, nvlinks=links(*arguments, **fields))


def test_links_that_are_well_or_lead_nowhere() -> None:
    assert check_nvlink(watch(lambda _: (nvlinked(0), nvlinked(1)))) is None
    assert check_nvlink(watch(lambda _: (nvlinked(0, (3,)), nvlinked(1, (2,))))) is None  # all alike
    assert check_nvlink(watch(lambda _: (nvlinked(0, (0, 1, 2, 3)),))) is None  # no bridge
    assert check_nvlink(watch(lambda _: (gpu(0), gpu(1, nvlinks=())))) is None


def test_a_link_that_only_its_peers_have() -> None:
    seen = check_nvlink(watch(lambda _: (nvlinked(0), nvlinked(1, (2, 3)))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("warning", (1,))
    assert seen.title == "GPU 1: NVLinks 2-3 are down: 2 links up, its peers have 4"


def test_a_link_that_goes_down() -> None:
    seen = check_nvlink(watch(lambda second: (nvlinked(0, (2,) if second > 10 else ()),)))
    assert seen is not None
    assert (seen.severity, seen.title) == ("critical", "GPU 0: NVLink 2 went down: 3 links up")


@pytest.mark.parametrize(
    ("errors", "severity"),
    [
        (lambda second: {"recovery_errors": second // 20}, "critical"),
        (lambda second: {"replay_errors": second // 20}, "critical"),
        (lambda second: {"crc_errors": 99 * second}, "info"),
        (lambda second: {"crc_errors": 100 * second}, "critical"),
        (lambda second: {"ecc_errors": second}, "info"),
        (lambda second: {"packet_errors": second}, "info"),
        (lambda second: {"crc_errors": 999}, None),
        (lambda second: {"crc_errors": 1000}, "info"),  # before hwtop came
        (lambda second: {"recovery_errors": 2}, "info"),
        (lambda second: {"crc_errors": 500 if second < 10 else 0}, None),  # counters were cleared
    ],
)
def test_what_links_count_while_watched(errors: Callable[[int], dict[str, int]], severity: str | None) -> None:
    seen = check_nvlink(watch(lambda second: (nvlinked(0, **errors(second)), nvlinked(1))))
    assert (seen.severity if seen is not None else None) == severity


@pytest.mark.parametrize(
    ("fabric", "seconds", "expected"),
    [
        (None, 60, False),
        ("completed", 60, False),
        ("unhealthy: degraded bandwidth", 5, True),
        ("failed: NVML error 999", 5, True),
        ("in progress", 30, False),
        ("not started", 60, True),
    ],
)
def test_a_fabric_that_does_not_come_up(fabric: str | None, seconds: int, expected: bool) -> None:
    assert (check_nvlink(watch(lambda _: (gpu(0, fabric=fabric),), seconds)) is not None) is expected


@pytest.mark.parametrize(("code", "expected"), [(74, True), (149, True), (31, False)])
def test_the_driver_tells_of_a_link(code: int, expected: bool) -> None:
    xids = (XidEvent(code=code, at_s=3.0),)
    seen = check_nvlink(watch(lambda _: (gpu(0, xids=xids), gpu(1))))
    assert (seen is not None) is expected


def test_logs_are_witnesses_too() -> None:
    reported = job(rank(0), events=(event("nvlink-errors"), event("pcie-degraded", severity="warning")))
    seen = history(5, lambda second: derived(float(second), reported, gpus=(gpu(0), nvlinked(1))))
    for symptom, title in (
        ("nvlink-errors", "An NVLink or NVSwitch link fails"),
        ("pcie-degraded", "A PCIe link is slow or reports errors"),
    ):
        found = seen_with_log(symptom, seen)
        assert found is not None
        assert found.title == title
