"""Pressure: how long tasks waited for a resource, as the kernel tells it (Documentation/accounting/psi.rst)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hwtop.model.frame import Moment


def some_pct(resource: Literal["cpu", "io", "memory"]) -> Callable[[Moment], float | None]:
    """Asks a moment for PSI some avg10 of `resource` in percent; None where the kernel does not tell it."""

    def told(moment: Moment) -> float | None:
        psi = moment.cpu.psi.get(resource) if moment.cpu else None
        return psi.some.avg10_pct if psi is not None and psi.some is not None else None

    return told
