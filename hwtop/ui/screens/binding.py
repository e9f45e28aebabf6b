"""An action as Textual binds it."""

from __future__ import annotations

from textual.binding import Binding

from hwtop.ui.keys.action import Action


def binding(action: Action) -> Binding:
    """With the name by which a keymap gives it other keys."""
    return Binding(action.key, action.action, action.description, id=action.id, priority=action.is_priority)
