"""Lists of processors as the kernel writes them."""

from __future__ import annotations

from functools import lru_cache

from hwtop.job.whole_number import whole_number

_MOST = 1 << 16
"""Eight times what a kernel can be built for (CONFIG_NR_CPUS)."""


@lru_cache(maxsize=1024)
def cpus_of(text: str) -> frozenset[int]:
    """The numbers in a list as the kernel writes it, "0-47,96-143"; empty for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        start, end = whole_number(first), whole_number(last or first)
        if start is None or end is None or end >= _MOST:
            return frozenset()
        found.update(range(start, end + 1))
    return frozenset(found)
