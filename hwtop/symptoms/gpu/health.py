"""ecc-error, row-remap-pending: the memory of a GPU returns wrong bits, and what the driver does about it."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.health import EccErrors
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import Fault, fault_lines, gpu_facts, named_gpus, not_ours, own_severity, ranks_on
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.severity import worst

CORRECTED_S = 10.0
"""Shortest time over which a rate of corrected errors is taken. Engineering default."""


ECC = limits_of("ecc-error")


REMAP = limits_of("row-remap-pending")


def check_ecc(history: History, limits: Limits = ECC) -> Observation | None:
    """Uncorrected memory errors: critical where one came while hwtop watched; many corrected ones are worth a word."""
    faults = [
        fault
        for gpu in history.now.gpus
        if gpu.status == "ok" and gpu.ecc is not None
        for fault in _ecc(gpu, gpu.ecc, history, limits)
    ]
    return _observation("ecc-error", history, faults) if faults else None


def check_remap(history: History, limits: Limits = REMAP) -> Observation | None:
    """Rows that could not be replaced, rows or pages that wait for a reset, and what else the driver asks for."""
    faults = [fault for gpu in history.now.gpus if gpu.status == "ok" for fault in _memory(gpu, limits)]
    return _observation("row-remap-pending", history, faults) if faults else None


def _observation(symptom: str, history: History, faults: list[Fault]) -> Observation:
    level = worst(fault.severity for fault in faults)
    graver = [fault for fault in faults if fault.severity == level]
    reported = {fault.gpu for fault in graver}
    gpu = next(gpu for gpu in history.now.gpus if gpu.index == graver[0].gpu)
    others = reported - {graver[0].gpu}
    steps = [*dict.fromkeys(fault.step for fault in graver if fault.step is not None), None, None]
    return observed(
        symptom,
        severity=own_severity(history, reported, level),
        facts={
            "index": graver[0].gpu,
            "fault": graver[0].words,
            "others": named_gpus(others) if others else None,
            "first_step": steps[0],
            "second_step": steps[1],
            "is_uncorrected": symptom == "ecc-error" and level == "critical",
            **gpu_facts(gpu),
        },
        confidence=0.95,
        evidence=(
            *fault_lines(faults),
            *not_ours(history, reported),
        ),
        ranks=ranks_on(history, reported),
    )


def _ecc(gpu: Gpu, ecc: EccErrors, history: History, limits: Limits) -> Iterator[Fault]:
    first_s, first = _first(gpu, history)
    seconds = history.now.at_s - first_s
    if ecc.volatile_uncorrected:
        risen = _rise(first.volatile_uncorrected, ecc.volatile_uncorrected)
        words = _count(ecc.volatile_uncorrected, "uncorrected memory error") + _where(ecc)
        if risen:
            yield Fault(gpu.index, "critical", f"{words}, {risen} of them in the last {span(seconds)}")
        else:
            yield Fault(gpu.index, "warning", f"{words} since the driver was loaded")
    if (ecc.sram_uncorrected or 0) > limits.sram:
        words = f"{ecc.sram_uncorrected} uncorrected errors in SRAM: more than NVIDIA tolerates"
        yield Fault(gpu.index, "warning", words, "Have the GPU replaced (RMA)")
    corrected = _rise(first.volatile_corrected, ecc.volatile_corrected)
    if seconds >= CORRECTED_S and corrected >= limits.corrected_per_min * seconds / 60:
        yield Fault(gpu.index, "info", f"{60 * corrected / seconds:,.0f} corrected memory errors a minute")
    if (ecc.volatile_corrected or 0) > limits.corrected:
        yield Fault(
            gpu.index, "warning", f"{ecc.volatile_corrected:,} corrected memory errors since the driver was loaded"
        )


def _first(gpu: Gpu, history: History) -> tuple[float, EccErrors]:
    """The oldest reading of its memory errors that is remembered."""
    for derived in history.derived_states:
        for each in derived.gpus:
            if each.index == gpu.index and each.ecc is not None:
                return derived.at_s, each.ecc
    return history.now.at_s, EccErrors()


def _rise(first: int | None, now: int | None) -> int:
    return max(0, now - first) if first is not None and now is not None else 0


def _where(ecc: EccErrors) -> str:
    parts = [
        f"{count} in {where}"
        for where, count in (("SRAM", ecc.sram_uncorrected), ("DRAM", ecc.dram_uncorrected))
        if count
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _memory(gpu: Gpu, limits: Limits) -> Iterator[Fault]:
    reset = "Let the job end, then reset the GPU" + (
        f": sudo nvidia-smi --gpu-reset -i {gpu.index}" if gpu.vendor == "nvidia" else ""
    )
    rows, pages = gpu.remapped, gpu.retired
    if rows is not None and rows.has_failed:
        words = (
            f"no spare memory row is left: remapping failed ({rows.uncorrected} rows replaced after uncorrected errors)"
        )
        yield Fault(gpu.index, "critical", words, "Take the node out of service and have the GPU replaced (RMA)")
    if rows is not None and rows.is_pending:
        yield Fault(gpu.index, "warning", "a defective memory row waits for a reset of the GPU to be replaced", reset)
    if pages is not None and pages.is_pending:
        yield Fault(
            gpu.index, "warning", "a defective memory page waits for a reset of the GPU to be taken out of use", reset
        )
    if pages is not None and (retired := (pages.single_bit or 0) + (pages.double_bit or 0)) > limits.retired_pages:
        yield Fault(
            gpu.index, "warning", f"{retired} memory pages were taken out of use", "Have the GPU tested and replaced"
        )
    if gpu.recovery_action:
        yield Fault(gpu.index, "warning", f"the driver asks for: {gpu.recovery_action}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
