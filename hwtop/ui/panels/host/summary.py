"""The whole host in one or two lines, where there is no room for a panel a subject."""

from __future__ import annotations

from hwtop.fields import host, units
from hwtop.fields.field import Field
from hwtop.model.frame import DerivedState
from hwtop.ui.panels.host import disk, network
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import bar
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, beside


def draw(view: View, width: int, height: int) -> list[Line]:
    """CPU, memory, disks and network side by side; in one row without a frame."""
    if height < 3:
        return [*([Line().fitted(width)] * (height - 1)), _one_line(view, width - 2)]
    room = inner(width)
    each = (room - 3 * 2) // 4
    blocks = (
        _cpu(view, each),
        _memory(view, each),
        _flow("disk", "r", "w", disk.traffic(view)),
        _flow("net", "↓", "↑", network.traffic(view)),
    )
    return box(beside([(block, each) for block in blocks]), width, height, Line("Host", "title"), Line())


def _one_line(view: View, room: int) -> Line:
    derived = view.frame.derived
    line = Line(" ")
    if derived.cpu:
        line.extend(_small("cpu", host.CPU, view, 13, "info"))
        line.add("  ").extend(cells.labelled(host.IOWAIT, derived, view.levels, "wait"))
    if derived.memory:
        line.add("  ").extend(_small("mem", host.MEMORY, view, 13))
    for word, first, second, (one, other) in (
        ("disk", "r", "w", disk.traffic(view)),
        ("net", "↓", "↑", network.traffic(view)),
    ):
        flow = Line(f"  {word} ", "label").add(f"{first}", "dim").add(f" {units.size(one)} ")
        flow.add(f"{second}", "dim").add(f" {units.size(other)}")
        if line.width + flow.width <= room:
            line.extend(flow)
    return line.fitted(room + 2)


def _small(word: str, field: Field[DerivedState], view: View, width: int, calm: str = "good") -> Line:
    derived = view.frame.derived
    tail = Line(" ").extend(cells.number(field, derived, view.levels, calm))
    share_pct, role = field.number(derived), cells.tone(field, derived, view.levels, calm)[0]
    drawn = bar(None if share_pct is None else share_pct / 100, width - 4 - tail.width, role)
    return Line(f"{word} ", "label").extend(drawn).extend(tail)


def _cpu(view: View, width: int) -> list[Line]:
    derived = view.frame.derived
    if derived.cpu is None:
        return [Line("cpu –", "dim")]
    second = cells.labelled(host.IOWAIT, derived, view.levels, "wait")
    second.add("  load ", "label").add(f"{derived.cpu.load[0]:.0f}")
    return [_small("cpu", host.CPU, view, width, "info"), second]


def _memory(view: View, width: int) -> list[Line]:
    if view.frame.derived.memory is None:
        return [Line("mem –", "dim")]
    return [_small("mem", host.MEMORY, view, width), _small("shm", host.SHM, view, width)]


def _flow(word: str, first: str, second: str, rates: tuple[float | None, float | None]) -> list[Line]:
    return [
        Line(f"{word:<4} ", "label").add(f"{first} {units.rate(rates[0])}"),
        Line("     ").add(f"{second} {units.rate(rates[1])}"),
    ]
