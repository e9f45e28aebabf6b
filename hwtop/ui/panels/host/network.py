"""Network interfaces by traffic, errors and retransmits."""

from __future__ import annotations

from hwtop.fields import nic as fields
from hwtop.fields import units
from hwtop.fields.host import RETRANSMITS
from hwtop.fields.level import Levels
from hwtop.model.host.network import NicRates
from hwtop.ui.panels.host import view as host_view
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle

_NICS = 5


def wanted(view: View, _: int) -> int:
    """Rows for the busiest interfaces and TCP, frame included."""
    return 2 + max(1, min(_NICS, len(_nics(view))) + 1)


def draw(view: View, width: int, height: int) -> list[Line]:
    """TCP's health is the last row: it stays when interfaces are left out."""
    room = inner(width)
    network = view.frame.derived.network
    if network is None:
        lines = [Line("◌ no numbers yet", "dim")]
    else:
        lines = [_nic(nic, view.levels, room) for nic in _nics(view)[: max(1, min(_NICS, height - 3))]]
        lines.append(cells.labelled(RETRANSMITS, view.frame.derived, view.levels))
    return box(lines, width, height, Line("Network", "title"), Line("bytes/s", "dim"))


def traffic(view: View) -> tuple[float | None, float | None]:
    """Bytes a second received and sent on all real interfaces together."""
    nics = [nic for nic in _nics(view) if not nic.is_virtual] or _nics(view)
    received = [nic.rx_bytes_per_s for nic in nics if nic.rx_bytes_per_s is not None]
    sent = [nic.tx_bytes_per_s for nic in nics if nic.tx_bytes_per_s is not None]
    return sum(received) if received else None, sum(sent) if sent else None


def _nics(view: View) -> list[NicRates]:
    """Real ones and those with traffic, the busiest first."""
    network = view.frame.derived.network
    nics = [
        nic for nic in (network.nics if network else ()) if host_view.traffic(nic) or (nic.is_up and not nic.is_virtual)
    ]
    return sorted(nics, key=lambda nic: -host_view.traffic(nic))


def _nic(nic: NicRates, levels: Levels, room: int) -> Line:
    name_width = max(6, min(14, room - 14))
    line = Line(elide_middle(nic.name, name_width), "label").fitted(name_width)
    for word, rate in (("↓", nic.rx_bytes_per_s), ("↑", nic.tx_bytes_per_s)):
        line.add(f" {word}", "dim").extend(Line(units.size(rate)).fitted(5, "right"))
    if fields.BAD.value(nic):
        bad = Line(" ").extend(cells.number(fields.BAD, nic, levels)).add(" bad/s", "warn")
        return line.extend(bad.fitted(room - line.width, "right"))
    if fields.USE.value(nic) is not None and room - line.width >= 12:
        link = Line(" ").extend(cells.number(fields.USE, nic, levels)).add(f" of {fields.SPEED.text(nic)}", "dim")
        line.extend(link.fitted(room - line.width, "right"))
    return line
