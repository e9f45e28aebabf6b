"""Pressure: how long tasks waited for a resource, as the kernel tells it (Documentation/accounting/psi.rst)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hwtop.model.frame import DerivedState


def some_pct(resource: Literal["cpu", "io", "memory"]) -> Callable[[DerivedState], float | None]:
    """Asks a moment for PSI some avg10 of `resource` in percent; None where the kernel does not tell it."""

    def reported(derived: DerivedState) -> float | None:
        psi = derived.cpu.psi.get(resource) if derived.cpu else None
        return psi.some.avg10_pct if psi is not None and psi.some is not None else None

    return reported
