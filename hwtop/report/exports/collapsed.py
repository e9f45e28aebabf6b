"""Samples as collapsed ("folded") stacks, the format of flamegraph.pl, inferno and speedscope.

One line for each distinct stack: its frames from the root to the leaf with ";" between, a space, the number of samples
(https://github.com/brendangregg/FlameGraph#2-fold-stacks). The root is the rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hwtop.job.log.text import visible
from hwtop.model.stack import StackFrame, StackSample


def collapsed(samples: Mapping[int, Sequence[StackSample]]) -> str:
    """Rank -> its samples, as lines with a line end each, in a stable order."""
    counts: Counter[str] = Counter()
    for rank, taken in samples.items():
        for sample in taken:
            counts[";".join((f"rank {rank}", *map(_frame, reversed(sample.frames))))] += 1
    return "".join(f"{stack} {count}\n" for stack, count in sorted(counts.items()))


def _frame(frame: StackFrame) -> str:
    text = (
        f"{frame.name} ({frame.short_filename}:{frame.line})"
        if frame.line
        else f"{frame.name} ({frame.short_filename})"
    )
    return visible(text).replace(";", ":")
