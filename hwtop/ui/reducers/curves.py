"""Which curve is drawn large, from which source and on which scale. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.model.curve import CurveName
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.panels.curves.view import TITLES, curves, selected, sources
from hwtop.ui.view import View


def moved(view: View, step: int) -> View:
    """The curve `step` further down is drawn large."""
    reported, here = curves(view), selected(view)
    if here is None:
        return view
    name = reported[max(0, min(len(reported) - 1, reported.index(here) + step))].name
    return view if name == view.state(CurvesState).name else _chosen(view, name)


def chosen(view: View, row: int) -> View:
    """The curve in this place of the list is drawn large."""
    reported = curves(view)
    return _chosen(view, reported[row].name) if 0 <= row < len(reported) else view


def _chosen(view: View, name: CurveName, source: int = 0) -> View:
    return view.with_state(replace(view.state(CurvesState), name=name, source=source))


def next_source(view: View) -> View:
    """The large curve as the next source of the same quantity reports it."""
    here, state = selected(view), view.state(CurvesState)
    if here is None:
        return view
    reporters = sources(view, here.name)
    if len(reporters) < 2:
        return replace(view, note=f"{TITLES[here.name].lower()} has only one source: {here.source}")
    at = ((state.source if state.name == here.name else 0) + 1) % len(reporters)
    return replace(_chosen(view, here.name, at), note=f"source {at + 1} of {len(reporters)}")


def scaled(view: View) -> View:
    """The large curve on a log scale, or on an even one again."""
    here, state = selected(view), view.state(CurvesState)
    return view if here is None else view.with_state(replace(state, log_scales=state.log_scales ^ {here.name}))
