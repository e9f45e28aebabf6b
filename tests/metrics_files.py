"""Metrics files for tests: those of the real libraries (tests/data/witness), and event files made by hand."""

from __future__ import annotations

import struct
from pathlib import Path

from hwtop.job.metrics.crc32c import masked_crc32c

DATA = Path(__file__).parent / "data" / "witness"
EVENTS = "events.out.tfevents.1760000000.node-1.4711.0"


def event(step: int, tag: str, value: float, time_s: float = 1_760_000_000.0) -> bytes:
    """One record of an event file with one scalar."""
    scalar = _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return record(b"\x09" + struct.pack("<d", time_s) + b"\x10" + _varint(step) + _bytes(5, _bytes(1, scalar)))


def record(data: bytes) -> bytes:
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


def _bytes(field: int, data: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    parts = b""
    while number > 127:
        parts += bytes([number & 127 | 128])
        number >>= 7
    return parts + bytes([number])
