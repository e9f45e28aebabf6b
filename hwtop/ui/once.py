"""What panels work out of a view, worked out once: they ask for it when they are measured and again when they are drawn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Of = TypeVar("Of")
Given = ParamSpec("Given")
Found = TypeVar("Found")
_KEPT = 8
"""Results: several sizes, and several tabs of a browser."""


def once(work: Callable[Concatenate[Of, Given], Found]) -> Callable[Concatenate[Of, Given], Found]:
    """`work` of this very view (or job), which never changes: its newest results are kept. They are shared, so whoever gets
    one must not change it."""
    kept: OrderedDict[tuple[object, ...], tuple[Of, Found]] = OrderedDict()

    @wraps(work)
    def found(of: Of, /, *args: Given.args, **kwargs: Given.kwargs) -> Found:
        key = (id(of), *args, *kwargs.items())
        if key not in kept:
            kept[key] = of, work(of, *args, **kwargs)  # it is held: no other object can get its id
            while len(kept) > _KEPT:
                kept.popitem(last=False)
        return kept[key][1]

    return found
