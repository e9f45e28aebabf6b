"""How far a page can be scrolled."""

from __future__ import annotations

from hwtop.ui.pages.layout import arrange
from hwtop.ui.pages.registry import current
from hwtop.ui.view import View


def scrollable(view: View, width: int, height: int) -> int:
    """How far this page can be scrolled, in rows."""
    return current(view).scrollable(view, arrange(view, width, height))
