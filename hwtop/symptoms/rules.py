"""The rule set: a list. A new symptom is a rule in the file of its family, and its family here."""

from __future__ import annotations

from hwtop.symptoms import (
    blocked,
    correctness,
    cpu,
    disk,
    divergence,
    gpu,
    gpu_idle,
    gpu_spin,
    gradients,
    hang,
    interpreter,
    interruptions,
    loader,
    locks,
    log,
    memory,
    overhead,
    plateau,
    ranks,
    rendezvous,
    trend,
    worker_count,
    workers,
)
from hwtop.symptoms.rule import Rule

RULES: tuple[Rule, ...] = (
    *gpu.RULES,
    *log.RULES,
    *correctness.RULES,
    *divergence.RULES,
    *gradients.RULES,
    *ranks.RULES,
    *workers.RULES,
    *blocked.RULES,
    *locks.RULES,
    *hang.RULES,
    *rendezvous.RULES,
    *loader.RULES,
    *interruptions.RULES,
    *interpreter.RULES,
    *overhead.RULES,
    *gpu_spin.RULES,
    *gpu_idle.RULES,
    *worker_count.RULES,
    *cpu.RULES,
    *memory.RULES,
    *disk.RULES,
    *plateau.RULES,
    *trend.RULES,
)
"""In the order in which findings of one severity are shown: what is nearer to the cause comes first."""
