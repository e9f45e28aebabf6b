"""Structural sharing: what has not changed since the last tick is held once, not six hundred times."""

from __future__ import annotations

from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")


def share(earlier: object, later: T) -> T:
    """Equal to `later`, built of the parts of `earlier` wherever they are equal."""
    if later is earlier or type(later) is not type(earlier):
        return later
    if later == earlier:
        return earlier
    if isinstance(later, Struct):
        return cast("T", _share_fields(earlier, later))
    if isinstance(later, tuple) and isinstance(earlier, tuple):
        return cast("T", _share_items(earlier, later))
    return later


def _share_fields(earlier: object, later: Struct) -> Struct:
    changed = {
        name: part
        for name in later.__struct_fields__
        if (part := share(getattr(earlier, name), own := getattr(later, name))) is not own
    }
    return replace(later, **changed) if changed else later


def _share_items(earlier: tuple[object, ...], later: tuple[object, ...]) -> tuple[object, ...]:
    """Item by item: processes, ranks and GPUs keep their places from tick to tick."""
    return tuple(map(share, earlier, later)) + later[len(earlier) :]
