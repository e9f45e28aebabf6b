"""Lists of processors as the kernel writes them."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def cpus_of(text: str) -> frozenset[int]:
    """The numbers in a list as the kernel writes it, "0-47,96-143"; empty for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return frozenset()
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
