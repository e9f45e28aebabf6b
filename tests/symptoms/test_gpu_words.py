"""GPUs in findings, of any vendor."""

from __future__ import annotations

import pytest

from hwtop.model.gpu import Gpu, GpuStatus, ThrottleReason
from hwtop.model.gpu_link import NvLink
from hwtop.model.job import Job
from hwtop.model.log import Severity
from hwtop.symptoms import gpu as gpu_driver
from hwtop.symptoms import gpu_clocks, gpu_health, gpu_link, gpu_power, xid
from hwtop.symptoms.gpu_clocks import check_hw_slowdown, check_thermal
from hwtop.symptoms.gpu_link import check_nvlink
from hwtop.symptoms.gpu_power import check_power_cap
from hwtop.symptoms.gpu_words import named_gpus, own_severity, steps_for
from tests.symptoms.moments import constant, gpu, job, rank

GPU_RULES = [rule for family in (gpu_driver, xid, gpu_health, gpu_link, gpu_clocks, gpu_power) for rule in family.RULES]
STEPS = ("nvidia-smi -q -i GPU", "lspci -s BUS", "reseat it")


def test_names() -> None:
    assert (named_gpus([3]), named_gpus([0, 1, 2, 7])) == ("GPU 3", "GPUs 0-2,7")


def test_commands_carry_the_number_and_the_bus_id() -> None:
    assert steps_for(gpu(3, pci_bus_id="0000:9d:00.0"), STEPS) == (
        "nvidia-smi -q -i 3",
        "lspci -s 0000:9d:00.0",
        "reseat it",
    )
    assert steps_for(gpu(3, pci_bus_id=None), STEPS)[1] == "lspci -s BUS"


def test_another_vendor_has_its_own_tool() -> None:
    amd = steps_for(gpu(0, vendor="amd", pci_bus_id="0000:c1:00.0"), STEPS)
    assert amd == (
        "amd-smi metric -g 0000:c1:00.0   # everything that it tells of itself",
        "lspci -s 0000:c1:00.0",
        "reseat it",
    )


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
