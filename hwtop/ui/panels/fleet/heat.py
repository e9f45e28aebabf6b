"""What a cell of the heat map shows: a number as height and colour, or a word as a glyph. Colour is never alone."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from msgspec import Struct

from hwtop.fields import gpu as gpu_fields
from hwtop.fields import units
from hwtop.fields.gpu import DeviceRow
from hwtop.fields.level import Level, Levels
from hwtop.fields.node_row import BEHIND, NodeRow
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.state import FleetState
from hwtop.ui.panels.fleet.view import Slot
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line, Span

_RAMP = "▁▂▃▄▅▆▇"
"""Without the full block, which would join the rows of the map."""
_UNKNOWN: Span = ("–", "dim")
_COOL_C, _HOT_C = 30.0, 90.0
"""Ends of the scale of temperatures."""
_LOW_POWER = 0.7
"""Of the median of the GPUs that ranks use, below which a GPU's power is marked; engineering default."""
_GONE = frozenset({"dead", "stopped", "stuck", "stalled", "slow"})
"""States of a rank that are shown instead of its phase."""
_MANY = 10
"""Steps behind from which on they have no digit."""


class Scale(Struct, frozen=True):
    """What the cells of all nodes are compared with."""

    levels: Levels
    power_w: float | None
    """Highest limit of a GPU, else the highest power."""
    usual_w: float | None
    """Median of the GPUs that ranks use."""


class Heat(Struct, frozen=True):
    """One thing that the heat map can show."""

    name: str
    unit: str
    value: Callable[[NodeRow, Slot], float | str | None]
    glyph: Callable[[float | str, Slot, Scale], Span]
    text: Callable[[float | str], str]
    """In at most five cells."""
    legend: tuple[Span, ...]


@once
def scale(view: View) -> Scale:
    """Of all nodes."""
    gpus = [gpu for row in fleet_view.every(view) if row.is_current for gpu in row.gpus]
    used = [
        slot.gpu.power_w
        for row in fleet_view.every(view)
        if row.is_current
        for slot in fleet_view.slots(row)
        if slot.gpu and slot.rank and slot.gpu.power_w is not None
    ]
    limits = [gpu.power_limit_w or gpu.power_w for gpu in gpus]
    return Scale(
        levels=view.levels,
        power_w=max((limit for limit in limits if limit is not None), default=None),
        usual_w=median(used) if used else None,
    )


def cell(heat: Heat, row: NodeRow, slot: Slot, of: Scale, width: int) -> Span:
    """A cell of `width` cells, and its role: the glyph alone, or with the value where there is room."""
    found = _cell(heat, row, slot, of)
    glyph, role, text = found
    if width < 6:
        return glyph.ljust(width), role
    return f"{glyph}{text:>5}".ljust(width)[:width], role


def _cell(heat: Heat, row: NodeRow, slot: Slot, of: Scale) -> tuple[str, str, str]:
    if not row.is_current:
        return *_UNKNOWN, ""
    if slot.gpu is not None and slot.gpu.status in ("lost", "error"):
        return "✖", "bad", slot.gpu.status.upper()[:4]
    value = heat.value(row, slot)
    if value is None:
        return *_UNKNOWN, ""
    glyph, role = heat.glyph(value, slot, of)
    return glyph, role, heat.text(value)


def named(name: str) -> Heat:
    """The one of this name."""
    return next(heat for heat in HEATS if heat.name == name)


def shown(view: View) -> Heat:
    """The one that was chosen; at the start utilization, or the phase where no node has a GPU."""
    chosen = view.state(FleetState).heat
    has_gpus = any(row.gpus for row in fleet_view.every(view))
    return named(chosen or ("utilization" if has_gpus else "phase"))


def following(view: View) -> str:
    """The name of the next one."""
    return HEATS[(HEATS.index(shown(view)) + 1) % len(HEATS)].name


def _ramp(share: float) -> str:
    within = max(0.0, min(1.0, share))  # before it is an integer: a node may report what is no number
    return _RAMP[min(len(_RAMP) - 1, int(within * len(_RAMP)))]


def _device(slot: Slot) -> DeviceRow | None:
    return DeviceRow(slot.gpu, (slot.rank.rank,) if slot.rank else ()) if slot.gpu else None


def _role(level: Level | None, value: float, slot: Slot) -> str:
    return marks.tone(level, value, "faint-good" if slot.rank else "dim")[0]


def _util(value: float | str, slot: Slot, of: Scale) -> Span:
    assert isinstance(value, int | float)
    row = _device(slot)
    return _ramp(value / 100), _role(gpu_fields.UTIL.level(row, of.levels) if row else None, value, slot)


def _power(value: float | str, slot: Slot, of: Scale) -> Span:
    assert isinstance(value, int | float)
    low = Level(warning=_LOW_POWER * of.usual_w, is_low=True) if of.usual_w is not None and slot.rank else None
    return _ramp(value / of.power_w if of.power_w else 0.0), _role(low, value, slot)


def _temperature(value: float | str, slot: Slot, of: Scale) -> Span:
    assert isinstance(value, int | float)
    row = _device(slot)
    role = _role(gpu_fields.TEMPERATURE.level(row, of.levels) if row else None, value, slot)
    return _ramp((value - _COOL_C) / (_HOT_C - _COOL_C)), role


def _phase_of(_: NodeRow, slot: Slot) -> str | None:
    rank = slot.rank
    if rank is None:
        return None
    return rank.state if rank.state in _GONE else rank.stack.phase


def _phase(value: float | str, slot: Slot, _: Scale) -> Span:
    rank = slot.rank
    assert rank is not None
    if value == rank.state and rank.state in _GONE:
        return marks.RANK_STATE[rank.state]
    role = marks.PHASE[rank.stack.phase or "other"]
    return marks.MIX[role][0], role


def _phase_text(value: float | str) -> str:
    return _SHORT.get(str(value), str(value)[:5])


def _lag_of(row: NodeRow, slot: Slot) -> float | None:
    found = slot.rank.progress.step if slot.rank else None
    return None if found is None or row.step_of_most is None else max(0.0, row.step_of_most - found)


def _lag(value: float | str, _: Slot, __: Scale) -> Span:
    assert isinstance(value, int | float)
    if value < BEHIND:
        return "·", "faint-good"
    return (str(round(value)) if value < _MANY else "+"), "warn"


def _lag_text(value: float | str) -> str:
    assert isinstance(value, int | float)
    return "" if value < BEHIND else f"-{value:,.0f}"


_SHORT = {
    "collective": "coll",
    "backward": "back",
    "forward": "forw",
    "optimizer": "optim",
    "checkpoint": "ckpt",
    "rendezvous": "rendz",
    "data-main": "data",
    "stopped": "stop",
    "stalled": "stall",
}
_RISING: Span = (_RAMP, "faint-good")

HEATS: tuple[Heat, ...] = (
    Heat(
        "utilization",
        "%",
        lambda _, slot: slot.gpu.util_pct if slot.gpu else None,
        _util,
        lambda value: units.pct(float(value)),
        (("0 ", "dim"), _RISING, (" 100 %", "dim")),
    ),
    Heat(
        "power",
        "W",
        lambda _, slot: slot.gpu.power_w if slot.gpu else None,
        _power,
        lambda value: units.watts(float(value)),
        (("0 ", "dim"), _RISING, (" power limit", "dim")),
    ),
    Heat(
        "temperature",
        "°C",
        lambda _, slot: slot.gpu.temp_c if slot.gpu else None,
        _temperature,
        lambda value: units.celsius(float(value)),
        ((f"{_COOL_C:.0f} ", "dim"), _RISING, (f" {_HOT_C:.0f} °C", "dim")),
    ),
    Heat(
        "phase",
        "",
        _phase_of,
        _phase,
        _phase_text,
        tuple(part for role, (glyph, word) in marks.MIX.items() for part in ((glyph, role), (f" {word}  ", "dim"))),
    ),
    Heat(
        "step lag",
        "steps",
        _lag_of,
        _lag,
        _lag_text,
        (
            ("·", "faint-good"),
            (" in step  ", "dim"),
            ("2-9", "warn"),
            (" steps behind  ", "dim"),
            ("+", "warn"),
            (" more", "dim"),
        ),
    ),
)
"""In the order of the key."""


def legend(heat: Heat) -> Line:
    """What the cells mean."""
    line = Line()
    for text, role in heat.legend:
        line.add(text, role)
    return line
