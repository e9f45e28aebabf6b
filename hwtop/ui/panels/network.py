"""Network interfaces by traffic, errors and retransmits."""

from __future__ import annotations

from hwtop.model.network import NicRates
from hwtop.ui import marks, units
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
    network = view.frame.moment.network
    if network is None:
        lines = [Line("◌ no numbers yet", "dim")]
    else:
        lines = [_nic(nic, room) for nic in _nics(view)[: max(1, min(_NICS, height - 3))]]
        role, mark = marks.high(network.tcp_retransmit_pct, 0.5, 2)
        value = network.tcp_retransmit_pct
        shown = units.UNKNOWN if value is None else f"{mark.strip()}{value:.1f}%"
        lines.append(Line("TCP sent again ", "label").add(shown, "text" if role == "good" else role))
    return box(lines, width, height, Line("Network", "title"), Line("bytes/s", "dim"))


def traffic(view: View) -> tuple[float | None, float | None]:
    """Bytes a second received and sent on all real interfaces together."""
    nics = [nic for nic in _nics(view) if not nic.is_virtual] or _nics(view)
    received = [nic.rx_bytes_per_s for nic in nics if nic.rx_bytes_per_s is not None]
    sent = [nic.tx_bytes_per_s for nic in nics if nic.tx_bytes_per_s is not None]
    return sum(received) if received else None, sum(sent) if sent else None


def _bytes(nic: NicRates) -> float:
    return (nic.rx_bytes_per_s or 0) + (nic.tx_bytes_per_s or 0)


def _nics(view: View) -> list[NicRates]:
    """Real ones and those with traffic, the busiest first."""
    network = view.frame.moment.network
    nics = [nic for nic in (network.nics if network else ()) if _bytes(nic) or (nic.is_up and not nic.is_virtual)]
    return sorted(nics, key=lambda nic: -_bytes(nic))


def _nic(nic: NicRates, room: int) -> Line:
    name_width = max(6, min(14, room - 14))
    line = Line(elide_middle(nic.name, name_width), "label").fitted(name_width)
    for word, rate in (("↓", nic.rx_bytes_per_s), ("↑", nic.tx_bytes_per_s)):
        line.add(f" {word}", "dim").extend(Line(units.size(rate)).fitted(5, "right"))
    bad = (nic.errors_per_s or 0) + (nic.drops_per_s or 0)
    if bad:
        return line.extend(Line(f" ▲{bad:.0f} bad/s", "warn").fitted(room - line.width, "right"))
    if nic.link_mbit_per_s and room - line.width >= 12:
        use = max(nic.rx_bytes_per_s or 0, nic.tx_bytes_per_s or 0) * 8 / (nic.link_mbit_per_s * 1e6) * 100
        role, mark = marks.high(use, 70, 90)
        link = Line(f" {mark.strip()}{use:.0f}%", "text" if role == "good" else role)
        link.add(f" of {nic.link_mbit_per_s / 1000:g}G", "dim")
        line.extend(link.fitted(room - line.width, "right"))
    return line
