"""Structural sharing: what has not changed since the last tick is held once, not six hundred times."""

from __future__ import annotations

from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")


def share(earlier: object, later: T) -> T:
    """Equal to `later`, built of the parts of `earlier` wherever they are equal."""
    return later if type(later) is not type(earlier) else cast("T", _shared(earlier, later))


def _shared(earlier: object, later: object) -> object:
    """The same, of two of one type. Most parts are plain numbers and texts, which are not worth a call each."""
    if later is earlier or later == earlier:
        return earlier
    if isinstance(later, Struct):
        return _share_fields(earlier, later)
    if isinstance(later, tuple) and isinstance(earlier, tuple):
        return _share_items(earlier, later)
    return later


def _share_fields(earlier: object, later: Struct) -> Struct:
    changed = {}
    for name in later.__struct_fields__:
        own, old = getattr(later, name), getattr(earlier, name)
        if own is old or type(own) is not type(old):
            continue
        if own == old:
            changed[name] = old
        elif isinstance(own, (Struct, tuple)) and (part := _shared(old, own)) is not own:
            changed[name] = part
    return replace(later, **changed) if changed else later


def _share_items(earlier: tuple[object, ...], later: tuple[object, ...]) -> tuple[object, ...]:
    """Item by item: processes, ranks and GPUs keep their places from tick to tick."""
    return tuple(map(share, earlier, later)) + later[len(earlier) :]
