"""ecc-error, row-remap-pending: the memory of a GPU returns wrong bits, and what the driver does about it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.model.gpu import Gpu
from hwtop.model.gpu_health import EccErrors
from hwtop.model.log import Severity
from hwtop.symptoms.gpu_words import (
    SEVERITIES,
    named_gpus,
    not_ours,
    own_severity,
    ranks_on,
    steps_for,
    with_log,
    worst,
)
from hwtop.symptoms.history import History
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Count, Limits, Observation, Positive, Rule

CORRECTED_S = 10.0
"""A rate is told after so long."""
_SHOWN = 4


class EccLimits(Limits, frozen=True, kw_only=True):
    """Of ecc-error. Any uncorrected error is told, whatever stands here."""

    corrected_per_min: Positive = 60.0
    """Corrected errors cost nothing by themselves; so many tell of memory that fails (engineering default)."""
    corrected: Count = 50_000_000
    """Since the driver was loaded: facebookresearch/gcm drains a node from there on."""
    sram: Count = 4
    """Uncorrected errors in SRAM from which NVIDIA's threshold for a replacement (RMA) is exceeded (stas00/ml-engineering,
    nvidia debugging guide)."""


ECC = EccLimits()


class RemapLimits(Limits, frozen=True, kw_only=True):
    """Of row-remap-pending."""

    retired_pages: Count = 10
    """facebookresearch/gcm drains a node above it."""


REMAP = RemapLimits()


class _Fault(Struct, frozen=True):
    gpu: int
    severity: Severity
    words: str
    """After "GPU 3: "."""
    step: str | None = None


def check_ecc(history: History, limits: EccLimits = ECC) -> Observation | None:
    """Uncorrected memory errors: critical where one came while hwtop watched; many corrected ones are worth a word."""
    faults = [
        fault
        for gpu in history.now.gpus
        if gpu.status == "ok" and gpu.ecc is not None
        for fault in _ecc(gpu, gpu.ecc, history, limits)
    ]
    return with_log("ecc-error", history, _observation("ecc-error", history, faults) if faults else None)


def check_remap(history: History, limits: RemapLimits = REMAP) -> Observation | None:
    """Rows that could not be replaced, rows or pages that wait for a reset, and what else the driver asks for."""
    faults = [fault for gpu in history.now.gpus if gpu.status == "ok" for fault in _memory(gpu, limits)]
    return with_log(
        "row-remap-pending", history, _observation("row-remap-pending", history, faults) if faults else None
    )


def _observation(symptom: str, history: History, faults: list[_Fault]) -> Observation:
    level = worst(fault.severity for fault in faults)
    graver = [fault for fault in faults if fault.severity == level]
    told = {fault.gpu for fault in graver}
    ordered = sorted(faults, key=lambda fault: SEVERITIES.index(fault.severity))
    gpu = next(gpu for gpu in history.now.gpus if gpu.index == graver[0].gpu)
    playbook = (step for step in playbooks()[symptom].steps if not step.startswith("Main memory"))
    others = told - {graver[0].gpu}
    more = f" (and {named_gpus(others)})" if others else ""
    steps = dict.fromkeys(fault.step for fault in graver if fault.step is not None)
    return Observation(
        severity=own_severity(history, told, level),
        confidence=0.95,
        title=f"GPU {graver[0].gpu}: {graver[0].words}{more}",
        evidence=(
            *(f"GPU {fault.gpu}: {fault.words}" for fault in ordered[:_SHOWN]),
            *((f"and {len(faults) - _SHOWN} more",) if len(faults) > _SHOWN else ()),
            *not_ours(history, told),
        ),
        next_steps=(
            *steps,
            *steps_for(gpu, playbook),
        ),
        ranks=ranks_on(history, told),
    )


def _ecc(gpu: Gpu, ecc: EccErrors, history: History, limits: EccLimits) -> Iterator[_Fault]:
    first_s, first = _first(gpu, history)
    seconds = history.now.at_s - first_s
    if ecc.volatile_uncorrected:
        risen = _rise(first.volatile_uncorrected, ecc.volatile_uncorrected)
        words = _count(ecc.volatile_uncorrected, "uncorrected memory error") + _where(ecc)
        if risen:
            yield _Fault(gpu.index, "critical", f"{words}, {risen} of them in the last {seconds:.0f} s", _RESULTS)
        else:
            yield _Fault(gpu.index, "warning", f"{words} since the driver was loaded")
    if (ecc.sram_uncorrected or 0) > limits.sram:
        words = f"{ecc.sram_uncorrected} uncorrected errors in SRAM: more than NVIDIA tolerates"
        yield _Fault(gpu.index, "warning", words, "Have the GPU replaced (RMA)")
    corrected = _rise(first.volatile_corrected, ecc.volatile_corrected)
    if seconds >= CORRECTED_S and corrected >= limits.corrected_per_min * seconds / 60:
        yield _Fault(gpu.index, "info", f"{60 * corrected / seconds:,.0f} corrected memory errors a minute")
    if (ecc.volatile_corrected or 0) > limits.corrected:
        yield _Fault(
            gpu.index, "warning", f"{ecc.volatile_corrected:,} corrected memory errors since the driver was loaded"
        )


_RESULTS = "What was computed since then may be wrong: go back to a checkpoint from before it"


def _first(gpu: Gpu, history: History) -> tuple[float, EccErrors]:
    """The oldest reading of its memory errors that is remembered."""
    for moment in history.moments:
        for each in moment.gpus:
            if each.index == gpu.index and each.ecc is not None:
                return moment.at_s, each.ecc
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


def _memory(gpu: Gpu, limits: RemapLimits) -> Iterator[_Fault]:
    reset = "Let the job end, then reset the GPU" + (
        f": sudo nvidia-smi --gpu-reset -i {gpu.index}" if gpu.vendor == "nvidia" else ""
    )
    rows, pages = gpu.remapped, gpu.retired
    if rows is not None and rows.has_failed:
        words = (
            f"no spare memory row is left: remapping failed ({rows.uncorrected} rows replaced after uncorrected errors)"
        )
        yield _Fault(gpu.index, "critical", words, "Take the node out of service and have the GPU replaced (RMA)")
    if rows is not None and rows.is_pending:
        yield _Fault(gpu.index, "warning", "a defective memory row waits for a reset of the GPU to be replaced", reset)
    if pages is not None and pages.is_pending:
        yield _Fault(
            gpu.index, "warning", "a defective memory page waits for a reset of the GPU to be taken out of use", reset
        )
    if pages is not None and (retired := (pages.single_bit or 0) + (pages.double_bit or 0)) > limits.retired_pages:
        yield _Fault(
            gpu.index, "warning", f"{retired} memory pages were taken out of use", "Have the GPU tested and replaced"
        )
    if gpu.recovery_action:
        yield _Fault(gpu.index, "warning", f"the driver asks for: {gpu.recovery_action}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


RULES = (
    Rule(
        symptom="ecc-error",
        category="stability",
        threshold=lambda limits: (
            f"any uncorrected error (critical while it rises), {limits.corrected_per_min:g} corrected ones a minute, more than "
            f"{limits.sram} in SRAM (NVIDIA's RMA threshold) or {limits.corrected:,} corrected (gcm), or a log line"
        ),
        raise_s=0.0,
        clear_s=60.0,
        check=check_ecc,
        limits=ECC,
    ),
    Rule(
        symptom="row-remap-pending",
        category="stability",
        threshold=lambda limits: (
            f"row remapping failed or pending, page retirement pending or over {limits.retired_pages} (gcm), the driver asks for a reset"
        ),
        raise_s=0.0,
        clear_s=60.0,
        check=check_remap,
        limits=REMAP,
    ),
)
