"""ecc-error and row-remap-pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.health import EccErrors, RemappedRows, RetiredPages
from hwtop.symptoms.gpu.health import check_ecc, check_remap
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import derived, event, gpu, history, job, rank, seen_with_log

WATCHED = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)))


def watch(sick: Callable[[int], Gpu], seconds: int = 20) -> History:
    return history(seconds, lambda second: derived(float(second), WATCHED, gpus=(gpu(0), sick(second))))


def severity_of(ecc: Callable[[int], dict[str, Any]], seconds: int = 20) -> str | None:
    seen = check_ecc(watch(lambda second: gpu(1, ecc=EccErrors(**ecc(second))), seconds))
    return seen.severity if seen is not None else None


@pytest.mark.parametrize(
    ("ecc", "severity"),
    [
        (lambda second: {"volatile_uncorrected": 0, "aggregate_uncorrected": 9}, None),
        (lambda second: {"volatile_uncorrected": 2}, "warning"),
        (lambda second: {"volatile_uncorrected": 2 if second < 19 else 3}, "critical"),
        (lambda second: {"volatile_uncorrected": second // 20}, "critical"),
        (lambda second: {"volatile_corrected": 133}, None),
        (lambda second: {"volatile_corrected": 19 * second // 20}, None),
        (lambda second: {"volatile_corrected": second}, "info"),
        (lambda second: {"volatile_corrected": 50_000_000}, None),
        (lambda second: {"volatile_corrected": 50_000_001}, "warning"),
        (lambda second: {"sram_uncorrected": 4}, None),
        (lambda second: {"sram_uncorrected": 5}, "warning"),
        (lambda second: {}, None),
    ],
)
def test_memory_errors(ecc: Callable[[int], dict[str, int]], severity: str | None) -> None:
    assert severity_of(ecc) == severity


def test_two_corrected_errors_in_the_first_second_prove_nothing() -> None:
    assert severity_of(lambda second: {"volatile_corrected": 2 * second}, 9) is None


def test_only_what_came_meanwhile_calls_for_a_checkpoint_and_counters_of_a_gpu_for_no_host_memory() -> None:
    past = check_ecc(watch(lambda _: gpu(1, ecc=EccErrors(volatile_uncorrected=2))))
    now = check_ecc(watch(lambda second: gpu(1, ecc=EccErrors(volatile_uncorrected=second // 20))))
    assert past is not None
    assert now is not None
    assert [sum("checkpoint" in step for step in seen.next_steps) for seen in (past, now)] == [0, 1]
    assert not any("ost memory" in step for step in (*past.next_steps, *now.next_steps))


def test_an_error_is_told_with_place_and_rank() -> None:
    ecc = EccErrors(volatile_uncorrected=2, dram_uncorrected=2, sram_uncorrected=0)
    seen = check_ecc(watch(lambda _: gpu(1, ecc=ecc)))
    assert seen is not None
    assert seen.title == "GPU 1: 2 uncorrected memory errors (2 in DRAM) since the driver was loaded"
    assert seen.ranks == (1,)
    assert "Drain the node and reset the GPU: sudo nvidia-smi --gpu-reset -i 1" in seen.next_steps


def test_one_finding_of_what_device_and_log_tell() -> None:
    reported = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)), events=(event("ecc-error", rank=0),))
    sick = gpu(1, ecc=EccErrors(volatile_uncorrected=2))
    seen = seen_with_log("ecc-error", history(5, lambda second: derived(float(second), reported, gpus=(gpu(0), sick))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("critical", (0, 1))
    assert any("2 uncorrected memory errors" in line for line in seen.evidence)
    assert any("a line about ecc-error" in line for line in seen.evidence)


ROWS: dict[str, Any] = {"corrected": 1, "uncorrected": 2, "is_pending": False, "has_failed": False}


@pytest.mark.parametrize(
    ("fields", "severity", "telling"),
    [
        ({}, None, ""),
        ({"remapped": RemappedRows(**ROWS)}, None, ""),
        ({"remapped": RemappedRows(**(ROWS | {"is_pending": True}))}, "warning", "waits for a reset"),
        ({"remapped": RemappedRows(**(ROWS | {"has_failed": True}))}, "critical", "no spare memory row is left"),
        ({"retired": RetiredPages(single_bit=5, double_bit=5)}, None, ""),
        ({"retired": RetiredPages(single_bit=5, double_bit=6)}, "warning", "11 memory pages"),
        ({"retired": RetiredPages(single_bit=None, double_bit=1, is_pending=True)}, "warning", "memory page waits"),
        ({"recovery_action": "reset the GPU"}, "warning", "the driver asks for: reset the GPU"),
    ],
)
def test_what_waits_for_a_reset_or_a_replacement(fields: dict[str, Any], severity: str | None, telling: str) -> None:
    seen = check_remap(watch(lambda _: gpu(1, **fields)))
    assert (seen.severity if seen is not None else None) == severity
    if seen is not None:
        assert telling in seen.title
        assert seen.ranks == (1,)


def test_the_failed_one_is_told_before_the_pending_one() -> None:
    failed = gpu(0, remapped=RemappedRows(**(ROWS | {"has_failed": True})))
    pending = gpu(1, remapped=RemappedRows(**(ROWS | {"is_pending": True})))
    seen = check_remap(history(2, lambda second: derived(float(second), WATCHED, gpus=(pending, failed))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("critical", (0,))
    assert seen.title.startswith("GPU 0: no spare memory row")
    assert any(line.startswith("GPU 1: a defective memory row waits") for line in seen.evidence)
    assert "RMA" in seen.next_steps[0]


def test_a_gpu_that_nobody_of_the_job_uses_is_less_grave() -> None:
    pending = gpu(5, remapped=RemappedRows(**(ROWS | {"has_failed": True})))
    seen = check_remap(history(2, lambda second: derived(float(second), WATCHED, gpus=(gpu(0), pending))))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("warning", ())
