"""Marks: the glyph, word and role of each state. Colour is never alone."""

from __future__ import annotations

from hwtop.fields.level import Alarm, Level
from hwtop.fields.process import state_word
from hwtop.model.fleet import NodeStatus
from hwtop.model.rank import RankState
from hwtop.model.rank_stack import Phase
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Answer, VerdictLevel

SEVERITY: dict[Severity, tuple[str, str, str]] = {
    "critical": ("✖", "CRITICAL", "bad"),
    "warning": ("▲", "WARNING", "warn"),
    "info": ("●", "NOTE", "info"),
}

VERDICT: dict[VerdictLevel, tuple[str, str]] = {
    "ok": ("✔", "OK"),
    "info": ("●", "NOTE"),
    "warning": ("▲", "WARNING"),
    "critical": ("✖", "CRITICAL"),
    "unknown": ("?", "UNKNOWN"),
    "ended": ("■", "ENDED"),
}

ANSWER: dict[Answer, tuple[str, str, str]] = {
    "yes": ("▲", "yes", "warn"),
    "no": ("✔", "no", "good"),
    "unknown": ("?", "unknown", "dim"),
}

RANK_STATE: dict[RankState, tuple[str, str]] = {
    "training": ("●", "good"),
    "collective-wait": ("○", "mix-3"),
    "data-wait": ("▼", "warn"),
    "checkpoint": ("◆", "info"),
    "eval": ("◇", "info"),
    "starting": ("◌", "info"),
    "slow": ("▲", "warn"),
    "stalled": ("◐", "bad"),
    "stuck": ("■", "bad"),
    "stopped": ("‖", "bad"),
    "dead": ("✖", "bad"),
    "unknown": ("?", "dim"),
}
"""A glyph of its own for each: on the map of many ranks it stands alone."""

NODE_STATUS: dict[NodeStatus, tuple[str, str]] = {
    "connecting": ("◌", "info"),
    "reporting": ("●", "good"),
    "late": ("▲", "warn"),
    "lost": ("✖", "bad"),
    "failed": ("✖", "bad"),
    "ended": ("■", "dim"),
}

PHASE: dict[Phase, str] = {
    "forward": "mix-1",
    "backward": "mix-1",
    "optimizer": "mix-1",
    "data": "mix-2",
    "data-main": "mix-2",
    "collective": "mix-3",
    "sync": "mix-3",
    "rendezvous": "mix-3",
    "checkpoint": "mix-4",
    "eval": "mix-4",
    "logging": "mix-4",
    "startup": "mix-5",
    "compile": "mix-5",
    "agent": "mix-5",
    "other": "mix-5",
}
"""Computing, waiting for data, waiting for others, saving and evaluating, the rest."""

PROCESS_STATE: dict[str, tuple[str, str]] = {
    "R": ("", "good"),
    "S": ("", "dim"),
    "D": ("▲ ", "warn"),
    "T": ("✖ ", "bad"),
    "t": ("✖ ", "bad"),
    "Z": ("✖ ", "bad"),
    "X": ("✖ ", "bad"),
    "I": ("", "dim"),
}
"""Mark and role of the letter of a process state."""

ALARM: dict[Alarm, tuple[str, str]] = {"warning": ("warn", "▲"), "critical": ("bad", "✖")}
"""Role and mark of a number that reaches its level."""

MIX: dict[str, tuple[str, str]] = {
    "mix-1": ("━", "compute"),
    "mix-2": ("═", "data"),
    "mix-3": ("┅", "wait"),
    "mix-4": ("▪", "save, log"),
    "mix-5": ("·", "other"),
}
"""Role -> (what its part of a bar is drawn with, its word in the legend), in the order in which bars show them."""

RANK_TONES = 8
"""Colours for the numbers of ranks; after as many ranks they come again, so that the number decides, never the colour alone."""


def rank(number: int | None) -> str:
    """The role of this rank's number, the same on every page and in every run."""
    return "label" if number is None else f"rank-{number % RANK_TONES}"


def tone(level: Level | None, value: float | None, calm: str = "text") -> tuple[str, str]:
    """(role, mark) of a number with this level; `calm` is the role of one that is fine."""
    alarm = level.alarm(value) if level else None
    if level is None or alarm is None:
        return ("dim" if value is None else calm), ""
    role, mark = ALARM[alarm]
    return role, "▼" if level.is_low else mark


def role(level: Level | None, value: float) -> str:
    """The role of a value that is drawn, e.g. in a trend."""
    return tone(level, value, "info")[0]


def process_state(letter: str) -> tuple[str, str]:
    """("▲ disk wait", role) of the letter of a process state."""
    mark, role = PROCESS_STATE.get(letter, ("", "text"))
    return mark + state_word(letter), role
