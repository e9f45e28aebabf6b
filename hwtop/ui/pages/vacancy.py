"""The room of panels that are hidden goes to those beside them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.ui.widgets.place import Place

_ELASTIC = frozenset(
    {"ranks", "logs", "rank-card", "stack", "stack-tree", "symptom", "symptom-page", "curve", "flame", "gpu-card"}
    | {"gpu-processes", "busiest", "processes", "host-page", "network"}
)
"""They have a use for more rows."""


def without(places: dict[str, Place], gone: Iterable[str]) -> dict[str, Place]:
    """The places with those of `gone` given to the panels along one of their sides; the last panel stays."""
    kept = dict(places)
    for name in gone:
        if name not in kept or len(kept) == 1:
            continue
        empty = kept.pop(name)
        ways = [grown for side in (_below, _above, _right, _left) if (grown := side(kept, empty))]
        if ways:
            useful = [grown for grown in ways if _ELASTIC & grown.keys()]
            kept.update((useful or ways)[0])
        else:
            kept[name] = empty
    return kept


def _below(places: dict[str, Place], empty: Place) -> dict[str, Place]:
    found = {n: p for n, p in places.items() if p.y == empty.y + empty.height and _is_over(p, empty)}
    if sum(place.width for place in found.values()) != empty.width:
        return {}
    return {n: Place(p.x, empty.y, p.width, p.height + empty.height) for n, p in found.items()}


def _above(places: dict[str, Place], empty: Place) -> dict[str, Place]:
    found = {n: p for n, p in places.items() if p.y + p.height == empty.y and _is_over(p, empty)}
    if sum(place.width for place in found.values()) != empty.width:
        return {}
    return {n: Place(p.x, p.y, p.width, p.height + empty.height) for n, p in found.items()}


def _right(places: dict[str, Place], empty: Place) -> dict[str, Place]:
    return _turned(_below(_turned(places), _turned({"": empty})[""]))


def _left(places: dict[str, Place], empty: Place) -> dict[str, Place]:
    return _turned(_above(_turned(places), _turned({"": empty})[""]))


def _turned(places: dict[str, Place]) -> dict[str, Place]:
    """With rows for columns."""
    return {name: Place(place.y, place.x, place.height, place.width) for name, place in places.items()}


def _is_over(place: Place, empty: Place) -> bool:
    return empty.x <= place.x and place.x + place.width <= empty.x + empty.width
