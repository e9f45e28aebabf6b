"""Health of NVIDIA GPUs, on the fake NVML."""

from __future__ import annotations

import pytest

from hwtop.collectors.gpu.nvidia.health import recovery_action
from hwtop.model.gpu.health import EccErrors, RemappedRows, RetiredPages
from tests.fakenvml.fixture import FakeNvml

CLEAN = RemappedRows(corrected=0, uncorrected=0, is_pending=False, has_failed=False)


def test_memory_errors_and_what_was_done_about_them(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("errors")
    fake_nvml.set(1, ecc_sram_dbe=1)
    gpus = fake_nvml.probe().read()
    assert gpus[1].ecc == EccErrors(
        is_enabled=True,
        volatile_corrected=133,
        volatile_uncorrected=2,
        aggregate_corrected=2051,
        aggregate_uncorrected=5,
        sram_uncorrected=1,
        dram_uncorrected=2,
    )
    assert gpus[1].remapped == RemappedRows(corrected=0, uncorrected=2, is_pending=True, has_failed=False)
    assert gpus[1].recovery_action == "reset the GPU"
    assert gpus[2].remapped == RemappedRows(corrected=0, uncorrected=8, is_pending=False, has_failed=True)
    assert (gpus[4].pcie_gen, gpus[4].pcie_width) == (3, 8)
    assert gpus[4].counters is not None
    assert gpus[4].counters.pcie_replays == 4711
    assert (gpus[0].remapped, gpus[0].recovery_action) == (CLEAN, None)
    assert "recovery_action" not in gpus[0].missing, "nothing asked for is an answer"


def test_health_is_read_every_ten_seconds(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(0)
    probe.read()
    fake_nvml.set(0, ecc_dbe_vol=1, remap_pending=1)
    probe.say("advance 5")
    assert probe.read()[0].remapped == CLEAN
    probe.say("advance 5")
    (gpu,) = probe.read()
    assert gpu.remapped is not None
    assert gpu.remapped.is_pending
    assert gpu.ecc is not None
    assert gpu.ecc.volatile_uncorrected == 1


def test_retired_pages_before_ampere(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", remap_corr="-", retired_sbe=3, retired_dbe=1, retired_pending=1)
    (gpu,) = fake_nvml.probe(0).read()
    assert gpu.retired == RetiredPages(single_bit=3, double_bit=1, is_pending=True)
    assert gpu.remapped is None
    assert gpu.missing["remapped"] == "not supported by this GPU"


def test_ecc_that_is_off_counts_nothing(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, ecc=0)
    (gpu,) = fake_nvml.probe(0).read()
    assert gpu.ecc == EccErrors(is_enabled=False)
    assert gpu.missing["ecc.volatile_uncorrected"] == "not supported by this GPU"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, None), (1, "reset the GPU"), (2, "reboot the node"), (7, "reboot the system"), (42, "recovery action 42")],
)
def test_recovery_actions_in_words(number: int, words: str | None) -> None:
    assert recovery_action(number) == words
