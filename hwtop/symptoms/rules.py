"""The rule set: a list. A new symptom is a rule in the file of its family, and its family here."""

from __future__ import annotations

from hwtop.symptoms import cpu, disk, gpu, hang, loader, log, memory, ranks
from hwtop.symptoms.rule import Rule

RULES: tuple[Rule, ...] = (
    *hang.RULES,
    *ranks.RULES,
    *loader.RULES,
    *cpu.RULES,
    *memory.RULES,
    *disk.RULES,
    *gpu.RULES,
    *log.RULES,
)
