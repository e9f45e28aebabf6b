"""The shares of a rank's phases as one line of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.model.rank_stack import Phase, PhaseShare

_ALWAYS: tuple[Phase, ...] = ("data", "forward", "backward", "optimizer", "collective", "checkpoint")
"""What a training step is made of, told even when it is nothing."""


def phase_sentence(shares: Sequence[PhaseShare], samples: int) -> str:
    """ "data 61 %, forward 12 %, backward 15 %, optimizer 4 %, collective 6 %, checkpoint 0 %, sync 2 % (48 samples)".

    "data" is loading by workers and in the process itself. Phases that are not part of every step follow when they reach a
    percent, largest first.
    """
    if samples == 0:
        return "no samples yet"
    found = {entry.phase: entry.share for entry in shares}
    found["data"] = found.get("data", 0.0) + found.pop("data-main", 0.0)
    others = sorted((phase for phase in found if phase not in _ALWAYS), key=lambda phase: -found[phase])
    reported = [(phase, found.get(phase, 0.0)) for phase in _ALWAYS]
    reported += [(phase, found[phase]) for phase in others if round(100 * found[phase]) >= 1]
    parts = ", ".join(f"{phase} {100 * share:.0f} %" for phase, share in reported)
    return f"{parts} ({samples} {'sample' if samples == 1 else 'samples'})"
