"""GPUs in findings, of any vendor."""

from __future__ import annotations

import pytest

from hwtop.model.gpu.device import Gpu, GpuStatus, ThrottleReason
from hwtop.model.gpu.link import NvLink
from hwtop.model.job import Job
from hwtop.model.reported.log import Severity
from hwtop.symptoms.gpu.clocks import check_hw_slowdown, check_thermal
from hwtop.symptoms.gpu.link import check_nvlink
from hwtop.symptoms.gpu.power import check_power_cap
from hwtop.symptoms.gpu.words import gpu_facts, named_gpus, own_severity
from hwtop.symptoms.records import records, room_of
from hwtop.symptoms.rules import RULES
from tests.symptoms.derived_states import constant, gpu, job, rank

OF_THE_HARDWARE = ("driver", "xid", "health", "link", "clocks", "power")
GPU_RULES = [
    rule
    for rule in RULES
    if room_of(rule.symptom) == "gpu" and (records()[rule.symptom].check or "").partition(".")[0] in OF_THE_HARDWARE
]


def test_names() -> None:
    assert (named_gpus([3]), named_gpus([0, 1, 2, 7])) == ("GPU 3", "GPUs 0-2,7")


def test_commands_carry_the_number_and_the_bus_id() -> None:
    facts = gpu_facts(gpu(3, pci_bus_id="0000:9d:00.0"))
    assert (facts["gpu"], facts["bus"], facts["own_tool"]) == (3, "0000:9d:00.0", None)


def test_another_vendor_has_its_own_tool_and_none_of_nvidias() -> None:
    facts = gpu_facts(gpu(0, vendor="amd", pci_bus_id="0000:c1:00.0"))
    assert facts["own_tool"] == "amd-smi metric -g 0000:c1:00.0   # all that it reports"
    assert facts["gpu"] is None


@pytest.mark.parametrize("reason", ["sw_thermal", "hw_current", "sw_power_cap"])
def test_no_card_of_an_amd_gpu_names_nvidias_tools(reason: ThrottleReason) -> None:
    up = tuple(NvLink(link=number, is_up=True) for number in range(7))
    down = (NvLink(link=0, is_up=False), *up[1:])
    well = gpu(0, vendor="amd", name="MI300X", nvlinks=up, power_limit_w=750.0)
    sick = gpu(1, vendor="amd", name="MI300X", nvlinks=down, power_limit_w=700.0, power_w=700.0, throttle=(reason,))
    watched = constant(job(rank(0, gpus=(0, 1))), gpus=(well, sick))
    seen = [check(watched) for check in (check_thermal, check_hw_slowdown, check_power_cap, check_nvlink)]
    found = [each for each in seen if each is not None]
    assert len(found) == 2
    assert "nvidia" not in " ".join(step for each in found for step in each.next_steps)
    assert "xGMI link 0 is down" in found[-1].title


@pytest.mark.parametrize(
    ("ranks", "severity", "expected"),
    [
        ((rank(0, gpus=(0,)),), "critical", "critical"),
        ((rank(0, gpus=(1,)),), "critical", "warning"),
        ((rank(0, gpus=(1,)),), "warning", "info"),
        ((rank(0, gpus=(1,)),), "info", "info"),
        ((rank(0),), "critical", "critical"),
        ((), "warning", "warning"),
    ],
)
def test_what_nobody_of_the_job_uses_is_less_grave(
    ranks: tuple[object, ...], severity: Severity, expected: str
) -> None:
    assert own_severity(constant(job(*ranks)), [0], severity) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("watched", [None, job(), job(rank(0, gpus=(0, 1, 9)))])
@pytest.mark.parametrize("status", ["ok", "stale", "error"])
def test_gpus_that_tell_nothing_raise_nothing_and_end_no_rule(watched: Job | None, status: GpuStatus) -> None:
    silent = Gpu(index=0, vendor="intel", name="", uuid=None, status=status)
    seen = constant(watched, seconds=150, gpus=(silent,), sources=())  # type: ignore[arg-type]
    assert [rule.symptom for rule in GPU_RULES if rule.look(seen) is not None] == []
