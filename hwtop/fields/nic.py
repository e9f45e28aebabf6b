"""Fields of a network interface or InfiniBand port."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Subject
from hwtop.fields.level import ANY
from hwtop.model.host.network import NicRates


def _use_pct(nic: NicRates) -> float | None:
    """Of its speed, in the busier direction."""
    if not nic.link_mbit_per_s or nic.rx_bytes_per_s is None or nic.tx_bytes_per_s is None:
        return None
    return max(nic.rx_bytes_per_s, nic.tx_bytes_per_s) * 8 / (nic.link_mbit_per_s * 1e6) * 100


def _bad_per_s(nic: NicRates) -> float | None:
    return None if nic.errors_per_s is None or nic.drops_per_s is None else nic.errors_per_s + nic.drops_per_s


NAME: Field[NicRates] = Field(
    id="nic.name",
    about="name of the interface or port",
    kind="word",
    value=lambda nic: nic.name,
    title="interface",
    columns={"nics": (Column(width=9, most=14),)},
    json="name",
)
RECEIVED: Field[NicRates] = Field(
    id="nic.rx_bytes_per_s",
    about="bytes received a second",
    kind="bytes",
    unit="B/s",
    value=lambda nic: nic.rx_bytes_per_s,
    title="in/s",
    columns={"nics": (Column(width=5),)},
    json="rx_bytes_per_s",
)
SENT: Field[NicRates] = Field(
    id="nic.tx_bytes_per_s",
    about="bytes sent a second",
    kind="bytes",
    unit="B/s",
    value=lambda nic: nic.tx_bytes_per_s,
    title="out/s",
    columns={"nics": (Column(width=5),)},
    json="tx_bytes_per_s",
)
USE: Field[NicRates] = Field(
    id="nic.use_pct",
    about="of its speed, in the busier direction",
    kind="percent",
    value=_use_pct,
    title="link",
    columns={
        "nics": (
            Column(width=6, priority=4, title="", grow=1, most=20, align="left", shape="bar"),
            Column(width=5, priority=2),
        )
    },
)
SPEED: Field[NicRates] = Field(
    id="nic.link_mbit_per_s",
    about="negotiated speed",
    kind="count",
    unit="Mbit/s",
    format=units.link_speed,
    value=lambda nic: nic.link_mbit_per_s,
    title="of",
    columns={"nics": (Column(width=5, priority=3),)},
    json="link_mbit_per_s",
)
ERRORS: Field[NicRates] = Field(
    id="nic.errors_per_s",
    about="packets with errors, a second",
    kind="count",
    unit="1/s",
    format=units.per_s,
    value=lambda nic: nic.errors_per_s,
    title="err/s",
    own_level=ANY,
    columns={"nics": (Column(width=5, priority=1),)},
    json="errors_per_s",
)
DROPS: Field[NicRates] = Field(
    id="nic.drops_per_s",
    about="packets dropped a second",
    kind="count",
    unit="1/s",
    format=units.per_s,
    value=lambda nic: nic.drops_per_s,
    title="drop/s",
    own_level=ANY,
    columns={"nics": (Column(width=6, priority=1),)},
    json="drops_per_s",
)
BAD: Field[NicRates] = Field(
    id="nic.bad_per_s",
    about="packets with errors or dropped, a second",
    kind="count",
    unit="1/s",
    format=units.per_s,
    value=_bad_per_s,
    title="bad/s",
    own_level=ANY,
)

NIC = Subject(
    name="nic",
    title="Network interfaces and InfiniBand ports",
    rows=lambda frame: frame.derived.network.nics if frame.derived.network else (),
    json="nics",
    labels={"device": NAME.value},
    fields=(NAME, RECEIVED, SENT, USE, SPEED, ERRORS, DROPS, BAD),
)
