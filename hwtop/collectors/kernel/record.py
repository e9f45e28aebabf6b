"""One record of the kernel's log in the two forms in which it can be had: /dev/kmsg and `journalctl -o json`."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from hwtop.job.whole_number import whole_number
from hwtop.model.host.kernel import LOG_KERN

_ESCAPED = re.compile(rb"\\x([0-9a-fA-F]{2})")
_LEVEL_BITS = 3
_ERROR_LEVEL = 6


class Record(Struct, frozen=True, kw_only=True):
    """What one record says of itself."""

    sequence: int | None
    time_s: float
    """Since boot, by the kernel's own clock."""
    level: int
    facility: int
    text: str
    device: str | None
    continues: bool = False
    """A piece that belongs behind the record before it."""
    cursor: str | None = None
    """The journal's name for its place."""


def parse_kmsg(raw: bytes) -> Record | None:
    """A record of /dev/kmsg, "PRIORITY,SEQUENCE,MICROSECONDS,FLAG[,...];TEXT" and lines " KEY=VALUE"; None if it is not one.

    Documentation/ABI/testing/dev-kmsg: the priority holds the level in its three lowest bits and the facility above them; the
    flag "+" marks a piece that continues the record before; bytes that cannot be printed, and the backslash, are "\\xNN".
    """
    head, semicolon, rest = raw.partition(b";")
    fields = head.split(b",")
    if not semicolon or len(fields) < 3:
        return None
    try:
        priority, sequence, micros = int(fields[0]), int(fields[1]), int(fields[2])
    except ValueError:
        return None
    text, *properties = rest.split(b"\n")
    device = next((line[8:] for line in properties if line.startswith(b" DEVICE=")), None)
    return Record(
        sequence=sequence,
        time_s=micros / 1e6,
        level=priority & ((1 << _LEVEL_BITS) - 1),
        facility=priority >> _LEVEL_BITS,
        text=_unescaped(text),
        device=None if device is None else _unescaped(device),
        continues=len(fields) > 3 and fields[3] == b"+",
    )


def parse_journal(raw: bytes) -> Record | None:
    """One line of `journalctl -k -o json` (systemd.journal-fields(7)); None if it is not a record of the kernel.

    A field that is not UTF-8 is a list of bytes, one that is too long is null, and one that occurs several times a list.
    """
    try:
        fields = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not isinstance(fields, dict) or fields.get("_TRANSPORT", "kernel") != "kernel":
        return None
    text = _field(fields.get("MESSAGE"))
    micros = _field(fields.get("_SOURCE_MONOTONIC_TIMESTAMP")) or _field(fields.get("__MONOTONIC_TIMESTAMP"))
    time_us = whole_number(micros)
    if text is None or time_us is None:
        return None
    return Record(
        sequence=None,
        time_s=time_us / 1e6,
        level=_number(fields.get("PRIORITY"), _ERROR_LEVEL),
        facility=_number(fields.get("SYSLOG_FACILITY"), LOG_KERN),
        text=text,
        device=_field(fields.get("_KERNEL_DEVICE")),
        cursor=_field(fields.get("__CURSOR")),
    )


def _unescaped(raw: bytes) -> str:
    if b"\\" in raw:
        raw = _ESCAPED.sub(lambda found: bytes((int(found[1], 16),)), raw)
    return raw.decode("utf-8", "replace")


def _field(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", "replace")
        return _field(value[0])
    return None


def _number(value: object, otherwise: int) -> int:
    text = _field(value)
    number = whole_number(text)
    return otherwise if number is None else number
