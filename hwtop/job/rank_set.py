"""How a set of ranks is written: "0-6,9"."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.job.cpu_list import cpus_of

_MOST_RUNS = 8
"""More of them are no longer read, only counted."""


def rank_set(ranks: Iterable[int]) -> str:
    """Sorted, runs joined by a dash."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def parsed(text: str) -> frozenset[int]:
    """The ranks of "0-6,9"; of a part that is no number, or not yet a run, none."""
    return frozenset[int]().union(*(cpus_of(part) for part in text.split(",") if not part.endswith("-")))


def named(ranks: Iterable[int]) -> str:
    """ "rank 3", "ranks 0-6" or, where the set has many gaps, "256 ranks (0,2,4,6,…)"."""
    numbers = sorted(set(ranks))
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    runs = rank_set(numbers).split(",")
    if len(runs) > _MOST_RUNS:
        return f"{len(numbers)} ranks ({','.join(runs[:4])},…)"
    return f"ranks {','.join(runs)}"


def do(ranks: Iterable[int], verb: str) -> str:
    """The verb as that many ranks do it: "waits" or "wait", "is" or "are"."""
    is_one = len(set(ranks)) == 1
    if verb == "be":
        return "is" if is_one else "are"
    return f"{verb}s" if is_one else verb
