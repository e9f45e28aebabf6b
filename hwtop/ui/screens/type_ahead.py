"""Keys that come in one piece, as over a slow line: each must find what the one before it has changed.

The toolkit hands them all to the screen that is on top when they come, and acts on them a message later.
"""

from __future__ import annotations

from typing import Any

from textual import events
from textual.screen import Screen


def handed_on(screen: Screen[Any], event: events.Key) -> bool:
    """Whether a key before this one has opened or closed a dialog; then this one went to the screen that is on top now."""
    top = screen.app.screen
    if top is screen:
        return False
    event.stop()
    # Marked as handed on, or the app takes what bubbles up for one more key.
    top._forward_event(events.Key(event.key, event.character))  # noqa: SLF001
    return True


async def obey(screen: Screen[Any], event: events.Key) -> bool:
    """Do what the key is bound to at once; whether it is bound to anything."""
    bound = screen.active_bindings.get(event.key)
    if bound is not None and bound.enabled:
        event.stop()
        await screen.app.run_action(bound.binding.action, bound.node)
    return bound is not None
