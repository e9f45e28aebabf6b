"""The selected box of the flame, and the way from one to the next. Pure."""

from __future__ import annotations

from hwtop.ui.view import View


def moved(view: View, right: int, down: int) -> View:  # noqa: ARG001
    """The box in this direction is selected."""
    return view


def zoomed(view: View) -> View:
    """The selected box at full width."""
    return view


def unzoomed(view: View) -> View | None:  # noqa: ARG001
    """One zoom less; None when there is none."""
    return None
