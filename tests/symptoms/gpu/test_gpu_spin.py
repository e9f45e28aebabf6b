"""gpu-busy-low-power: the signature of a collective's kernel that spins."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuActivity, GpuRates
from hwtop.model.host.network import NetworkRates, NicRates
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.spin import check_spin
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from tests.parts import replace
from tests.symptoms.derived_states import constant, derived, gpu, history, job, rank

SPINS: dict[str, Any] = {
    "util_pct": 100.0,
    "mem_util_pct": 0.0,
    "power_w": 160.0,
    "sm_clock_mhz": 1980.0,
    "pcie_tx_bytes_per_s": 1e6,
    "pcie_rx_bytes_per_s": 1e6,
}


def silent(number: int = 0, **fields: Any) -> Rank:
    """No stack and no step: the GPU alone tells."""
    known: dict[str, Any] = {
        "gpus": (number,),
        "step_age_s": 60.0,
        "log_age_s": 60.0,
        "is_waiting": None,
        "phase": None,
        "phase_shares": (),
        "samples": 0,
        "state": "unknown",
    }
    return rank(number, **(known | fields))


def spinning(index: int = 0, **fields: Any) -> Gpu:
    return gpu(index, **(SPINS | fields))


def seen(device: Gpu, *ranks: Rank, **fields: Any) -> Observation | None:
    watched = job(*(ranks or (silent(),)))
    return check_spin(constant(watched, seconds=40, gpus=(device,), **fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"util_pct": 98.0}, True),
        ({"util_pct": 97.0}, False),
        ({"util_pct": None}, False),
        ({"power_w": 314.0}, True),  # 44.9 % of 700 W
        ({"power_w": 316.0}, False),
        ({"power_w": None}, False),
        ({"power_limit_w": None}, False),
        ({"mem_util_pct": 4.0}, True),
        ({"mem_util_pct": 5.0}, False),
        ({"mem_util_pct": None}, False),  # then nothing is known of what the kernel does
        ({"mem_util_pct": None, "activity": GpuActivity(dram_bw_pct=0.2)}, True),
        ({"activity": GpuActivity(sm_active_pct=18.0, tensor_active_pct=0.0, dram_bw_pct=0.1)}, True),
        ({"activity": GpuActivity(sm_active_pct=18.0, tensor_active_pct=4.0, dram_bw_pct=0.1)}, False),
        ({"sm_clock_mhz": 1400.0}, True),
        ({"sm_clock_mhz": 1300.0}, False),  # slowed down: low power needs no other reason
        ({"throttle": ("hw_thermal",)}, False),
        ({"throttle": ("sw_power_cap",)}, True),
        ({"pcie_rx_bytes_per_s": 2e8}, False),
        ({"status": "stale"}, False),
    ],
)
def test_the_signature(fields: dict[str, Any], expected: bool) -> None:
    assert (seen(spinning(**fields)) is not None) is expected


def test_a_healthy_gpu_in_training_is_none() -> None:
    assert seen(gpu(), rank(0, gpus=(0,))) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"step_age_s": 29.0}, False),
        ({"step_age_s": 30.0}, True),
        ({"step_age_s": 60.0, "log_interval_s": 25.0}, False),  # logs every 100 steps
        ({"state": "checkpoint"}, False),
        ({"state": "eval"}, False),
        ({"state": "starting"}, False),
        ({"state": "stuck"}, True),
        ({"gpus": ()}, False),
    ],
)
def test_a_rank_that_gets_on_or_may_wait_is_not_suspected(fields: dict[str, Any], expected: bool) -> None:
    assert (seen(spinning(), silent(**fields)) is not None) is expected


def test_a_small_model_without_logs_is_told_as_information_only() -> None:
    found = seen(spinning(), silent(step_age_s=None))
    assert found is not None
    assert (found.severity, found.confidence) == ("info", 0.45)


def test_traffic_over_nvlink_is_work() -> None:
    busy, quiet = ((GpuRates(index=0, nvlink_tx_bytes_per_s=rate, nvlink_rx_bytes_per_s=rate),) for rate in (2e9, 1e6))
    assert seen(spinning(), gpu_rates=busy) is None
    found = seen(spinning(), gpu_rates=quiet)
    assert found is not None
    assert "NVLink carries nothing" in found.evidence


def test_traffic_between_machines_is_work() -> None:
    nic = NicRates(
        name="mlx5_0:1",
        rx_bytes_per_s=5e9,
        tx_bytes_per_s=5e9,
        errors_per_s=0.0,
        drops_per_s=0.0,
        link_mbit_per_s=400e3,
        is_up=True,
        is_virtual=False,
    )
    network = NetworkRates(nics=(nic,), tcp_retransmit_pct=None)
    one_machine, two_machines = (job(silent(), world_size=size) for size in (1, 2))
    assert check_spin(constant(one_machine, 40, gpus=(spinning(),), network=network)) is not None
    assert check_spin(constant(two_machines, 40, gpus=(spinning(),), network=network)) is None


def after_training(usual_w: float, now_w: float, trained_s: int = 60) -> History:
    """A limit that 45 % of tells nothing: only the GPU's own past does."""

    def at(second: int) -> Any:
        works = second < trained_s
        device = gpu(power_w=usual_w + second % 5, power_limit_w=400.0) if works else spinning(power_w=now_w)
        one = silent(step_age_s=0.2 if works else float(second - trained_s), state="training" if works else "unknown")
        return derived(float(second), job(one), gpus=(replace(device, power_limit_w=400.0),))

    return history(trained_s + 35, at)


@pytest.mark.parametrize(
    ("now_w", "trained_s", "expected"),
    [(190.0, 60, True), (240.0, 60, False), (190.0, 20, False), (175.0, 20, True)],
)
def test_its_own_power_in_training_is_the_better_measure(now_w: float, trained_s: int, expected: bool) -> None:
    """330 W in training: 60 % are 199 W; 45 % of the limit of 400 W, where too little was seen, are 180 W."""
    assert (check_spin(after_training(330.0, now_w, trained_s)) is not None) is expected


def test_its_own_power_is_told() -> None:
    found = check_spin(after_training(330.0, 150.0))
    assert found is not None
    assert found.severity == "warning", "steps were told and are no longer"
    assert found.title == "GPU 0: 100 % busy at 45 % of the usual power, as in a spinning collective"
    assert "GPU 0: 150 W over 30 s, 45 % of its median in training (332 W)" in found.evidence
    assert "this signature is not calibrated on hardware" in found.evidence


def test_it_must_have_lasted() -> None:
    assert check_spin(after_training(330.0, 150.0)) is not None
    assert check_spin(constant(job(silent()), 20, gpus=(spinning(),))) is None


def test_the_one_that_does_not_spin_is_the_suspect() -> None:
    watched = job(*(silent(number) for number in range(8)))
    devices = (*(spinning(index) for index in range(7)), gpu(7, util_pct=0.0, power_w=90.0))
    found = check_spin(constant(watched, 40, gpus=devices))
    assert found is not None
    assert found.ranks == (7,)
    assert found.title.endswith("; not on rank 7: check there first")
    assert found.title.startswith("GPUs 0-6: 100 % busy at 23 % of the power limit, as in a spinning collective")
    assert "rank 7: GPU 7 0 % busy, state unknown" in found.evidence
    assert found.confidence > 0.6


def test_stacks_and_peers_make_it_surer_but_never_certain() -> None:
    waiting = {"state": "stuck", "is_waiting": True, "phase": "collective"}
    measured = GpuActivity(sm_active_pct=20.0, tensor_active_pct=0.0, dram_bw_pct=0.0)
    alone = seen(spinning())
    watched = job(*(silent(number, **(waiting if number else {})) for number in range(8)))
    devices = (gpu(0, util_pct=3.0, power_w=90.0), *(spinning(index, activity=measured) for index in range(1, 8)))
    together = check_spin(constant(watched, 40, gpus=devices))
    assert alone is not None and together is not None
    assert alone.confidence < together.confidence <= 0.85
    assert "stacks: ranks 1-7 wait for others" in together.evidence


def test_one_odd_reading_does_not_end_it_but_work_does() -> None:
    def at(second: int, odd: Gpu, every: int) -> Any:
        return derived(float(second), job(silent()), gpus=(odd if second % every == 3 else spinning(),))

    assert check_spin(history(40, lambda second: at(second, spinning(util_pct=90.0), 20))) is not None
    assert check_spin(history(40, lambda second: at(second, gpu(), 4))) is None
