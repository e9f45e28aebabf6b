"""The whole host in one or two lines, where there is no room for a panel a subject."""

from __future__ import annotations

from hwtop.ui import marks, units
from hwtop.ui.panels import disk, memory, network
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
    moment = view.frame.moment
    line = Line(" ")
    if moment.cpu:
        role, mark = marks.high(moment.cpu.iowait_pct, 20, 50)
        line.extend(_small("cpu", moment.cpu.util_pct, 13, *_cpu_role(moment.cpu.util_pct)))
        line.add("  wait ", "label").add(
            f"{mark.strip()}{units.pct(moment.cpu.iowait_pct)}", "text" if role == "good" else role
        )
    found = moment.memory
    if found:
        used = found.used_bytes / found.total_bytes * 100 if found.total_bytes else None
        line.add("  ").extend(_small("mem", used, 13, *marks.high(used, 90, 97)))
    for word, first, second, (one, other) in (
        ("disk", "r", "w", disk.traffic(view)),
        ("net", "↓", "↑", network.traffic(view)),
    ):
        flow = Line(f"  {word} ", "label").add(f"{first}", "dim").add(f" {units.size(one)} ")
        flow.add(f"{second}", "dim").add(f" {units.size(other)}")
        if line.width + flow.width <= room:
            line.extend(flow)
    return line.fitted(room + 2)


def _cpu_role(util_pct: float | None) -> tuple[str, str]:
    return ("warn", "▲") if (util_pct or 0) >= 95 else ("info", "")


def _small(word: str, share_pct: float | None, width: int, role: str, mark: str) -> Line:
    tail = Line(f" {mark.strip()}{units.pct(share_pct)}", role)
    line = Line(f"{word} ", "label")
    return line.extend(bar(None if share_pct is None else share_pct / 100, width - 4 - tail.width, role)).extend(tail)


def _cpu(view: View, width: int) -> list[Line]:
    cpu = view.frame.moment.cpu
    if cpu is None:
        return [Line("cpu –", "dim")]
    role, mark = marks.high(cpu.iowait_pct, 20, 50)
    second = Line("wait ", "label").add(
        f"{mark.strip()}{units.pct(cpu.iowait_pct)}", "text" if role == "good" else role
    )
    second.add("  load ", "label").add(f"{cpu.load[0]:.0f}")
    return [_small("cpu", cpu.util_pct, width, *_cpu_role(cpu.util_pct)), second]


def _memory(view: View, width: int) -> list[Line]:
    found = view.frame.moment.memory
    if found is None:
        return [Line("mem –", "dim")]
    used = found.used_bytes / found.total_bytes * 100 if found.total_bytes else None
    shm_used, shm_total = memory.shared_memory(view)
    shm = shm_used / shm_total * 100 if shm_used is not None and shm_total else None
    return [
        _small("mem", used, width, *marks.high(used, 90, 97)),
        _small("shm", shm, width, *marks.high(shm, 90, 97)),
    ]


def _flow(word: str, first: str, second: str, rates: tuple[float | None, float | None]) -> list[Line]:
    return [
        Line(f"{word:<4} ", "label").add(f"{first} {units.rate(rates[0])}"),
        Line("     ").add(f"{second} {units.rate(rates[1])}"),
    ]
