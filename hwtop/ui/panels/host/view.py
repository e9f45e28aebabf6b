"""Is it the machine: what each part of the host says of itself now, and which findings are about it. Pure.

Marks are of this moment and only show where to look; what is proven are the findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct

from hwtop.fields import disk, host, nic
from hwtop.fields.field import Field
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.network import NicRates
from hwtop.model.symptom import Finding
from hwtop.symptoms.records import records, room_of
from hwtop.ui.once import once
from hwtop.ui.tables import cells
from hwtop.ui.view import View

Row = TypeVar("Row")

_REPORTED = frozenset(
    {
        "cpu-thermal-throttle",
        "disk-full",
        "filesystem-hang",
        "host-oom-kill",
        "input-bound-io",
        "shm-full",
        "too-many-open-files",
    }
)
"""Symptoms of other rooms whose cause lies in the host: most are reported by a line of a log."""


class Part(Struct, frozen=True):
    """One part of the host in a word."""

    name: str
    role: str
    """ "good", "warn", "bad", or "dim" where it is not known."""
    words: str

    @property
    def glyph(self) -> str:
        """Colour is never alone."""
        return {"good": "✔", "warn": "▲", "bad": "✖"}.get(self.role, "◌")


_LATELY = 60
"""Newest moments in which a virtual interface must have carried something, so that rows do not come and go."""
_WEIGHT = {"bad": 3, "warn": 2, "good": 1}


@once
def findings(view: View) -> list[Finding]:
    """Those about the machine."""
    return [
        finding
        for finding in view.frame.findings
        if finding.symptom in _REPORTED or (finding.symptom in records() and room_of(finding.symptom) == "host")
    ]


@once
def parts(view: View) -> list[Part]:
    """Each part of the host with the worst that it says, in the order of the page."""
    reported = (
        ("CPU", _cpu(view)),
        ("memory", _memory(view)),
        ("disks", _disks(view)),
        ("mounts", _mounts(view)),
        ("network", _network(view)),
        ("pressure", _pressure(view)),
    )
    return [_worst(name, list(facts)) for name, facts in reported]


def _worst(name: str, facts: list[tuple[str, str]]) -> Part:
    role, words = max(facts, key=lambda fact: _WEIGHT.get(fact[0], 0), default=("dim", "not seen"))
    return Part(name, role, words)


def _said(view: View, field: Field[Row], row: Row, after: str, before: str = "") -> tuple[str, str]:
    """(role, words) of a number: what stands before it and after it."""
    return cells.tone(field, row, view.levels, "good")[0], f"{before}{field.text(row)}{after}"


def _cpu(view: View) -> Iterator[tuple[str, str]]:
    derived = view.frame.derived
    if derived.cpu is None or derived.cpu.util_pct is None:
        return
    yield _said(view, host.CPU, derived, " busy")
    load, _ = cells.tone(host.LOAD_PER_CORE, derived, view.levels, "")
    if load:
        yield load, f"load {host.LOAD.text(derived)} on {derived.cores:g}"
    yield _said(view, host.STEAL, derived, " stolen")
    yield _said(view, host.IOWAIT, derived, " waits for disk")
    yield _said(view, host.THROTTLED, derived, " of the periods at the limit")


def _memory(view: View) -> Iterator[tuple[str, str]]:
    derived = view.frame.derived
    if derived.memory is None:
        return
    yield _said(view, host.MEMORY, derived, " used")
    yield _said(view, host.SWAP_IN, derived, " pages/s", "swaps in ")
    if derived.cgroup is not None and derived.cgroup.oom_kills_new:
        yield _said(view, host.KILLED, derived, " killed for memory")
    yield _said(view, host.HELD, derived, " of the job's limit")


def _disks(view: View) -> Iterator[tuple[str, str]]:
    for each in sorted(view.frame.derived.disks, key=lambda each: -(each.busy_pct or 0)):
        if each.busy_pct is not None:
            yield _said(view, disk.BUSY, each, " busy", f"{each.name} ")


def _mounts(view: View) -> Iterator[tuple[str, str]]:
    for mount in mounts(view.frame.derived):
        if mount.reason:
            yield "bad", f"{mount.mount_point} {mount.reason}"
        elif disk.USED.value(mount) is not None:
            yield _said(view, disk.USED, mount, " full", f"{mount.mount_point} ")
            yield cells.tone(disk.INODES, mount, view.levels, "good")[0], f"{mount.mount_point} out of inodes"


def _network(view: View) -> Iterator[tuple[str, str]]:
    derived = view.frame.derived
    if derived.network is None:
        return
    if derived.network.tcp_retransmit_pct is not None:
        yield _said(view, host.RETRANSMITS, derived, " TCP retransmits")
    for each in nics(view.frame):
        if nic.USE.value(each) is not None:
            yield _said(view, nic.USE, each, " of its speed", f"{each.name} ")
        bad = nic.BAD.number(each)
        if bad is not None:
            yield ("warn", f"{each.name} loses {bad:.1f} packets/s") if bad else ("good", "no packet lost")


def _pressure(view: View) -> Iterator[tuple[str, str]]:
    derived = view.frame.derived
    reported = {name: field for name, field in host.PRESSURE.items() if field.value(derived) is not None}
    for name, field in sorted(reported.items(), key=lambda item: -(item[1].number(derived) or 0)):
        yield _said(view, field, derived, "", f"{name} ")


def disks(derived: DerivedState) -> list[DiskRates]:
    """By name: rows that change places with each look cannot be read."""
    return sorted(derived.disks, key=lambda disk: disk.name)


def mounts(derived: DerivedState) -> list[MountReading]:
    """Those that do not answer, then by fill."""
    return sorted(
        derived.mounts,
        key=lambda mount: (mount.reason is None, -(disk.USED.number(mount) or 0), mount.mount_point),
    )


def nics(frame: Frame) -> list[NicRates]:
    """Real ones by name, then virtual ones that carried something of late."""
    known = frame.derived.network.nics if frame.derived.network else ()
    lately = [derived.network.nics for derived in frame.history[-_LATELY:] if derived.network]
    carried = {nic.name for of_moment in lately for nic in of_moment if traffic(nic)}
    shown = [nic for nic in known if not nic.is_virtual or nic.name in carried]
    return sorted(shown, key=lambda nic: (nic.is_virtual, nic.name))


def traffic(nic: NicRates) -> float:
    """Bytes a second in both directions."""
    return (nic.rx_bytes_per_s or 0) + (nic.tx_bytes_per_s or 0)


def reason(view: View, source: str) -> str:
    """Why there are no numbers of this source."""
    for status in view.frame.derived.sources:
        if status.name == source and status.reason:
            return status.reason
    return "no numbers yet"


def sentence(view: View) -> str:
    """The machine in one line, for the clipboard."""
    about = findings(view)
    reported = "; ".join(finding.title for finding in about) or "nothing about the machine is proven"
    return f"{view.frame.derived.host}: {reported} ({', '.join(f'{part.name}: {part.words}' for part in parts(view))})"
