"""What the user may allow where stacks are refused: py-spy as root. Offered next to the refusal, asked once a session."""

from __future__ import annotations

from hwtop.ui.keys import names as key_names
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line


def is_open(view: View) -> bool:
    """sudo may help, and the user has neither allowed nor refused it."""
    job = view.job
    if job is None or view.is_readonly or view.is_sudo_answered:
        return False
    return any(refusal.needs_consent for refusal in job.stacks.refusals)


def offer(view: View, indent: int) -> list[Line]:
    """The key that asks, `indent` cells in; nothing where there is nothing to ask."""
    if not is_open(view):
        return []
    key = key_names.first("deep", view.keymap)
    asks = " asks whether to read them as root with sudo -n"
    return [Line(" " * indent).add("→ ", "accent").add(key, "key").add(asks, "accent")]
