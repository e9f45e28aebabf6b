"""Recorded lines of the kernel's log (tests/data/kernel)."""

from __future__ import annotations

from pathlib import Path

from hwtop.collectors.kernel.record import parse_kmsg
from hwtop.model.host.kernel import KernelLine, KernelReading

DATA = Path(__file__).parent / "data" / "kernel"


def raw_records(name: str) -> list[bytes]:
    """What each read(2) of /dev/kmsg would give."""
    records: list[bytes] = []
    for line in (DATA / name).read_bytes().splitlines(keepends=True):
        if line.startswith(b" ") and records:
            records[-1] += line
        else:
            records.append(line)
    return records


def kernel_lines(name: str, *, is_past: bool = False) -> tuple[KernelLine, ...]:
    """Their lines, on a clock without drift."""
    found = []
    for raw in raw_records(name):
        record = parse_kmsg(raw)
        assert record is not None, raw
        found.append(
            KernelLine(
                text=record.text,
                at_s=record.time_s,
                level=record.level,
                facility=record.facility,
                sequence=record.sequence,
                is_past=is_past,
                device=record.device,
            )
        )
    return tuple(found)


def kernel(at_s: float, *lines: KernelLine | str, **fields: object) -> KernelReading:
    """A reading; a text is an error of the kernel at this time."""
    known = [KernelLine(text=line, at_s=at_s, level=3) if isinstance(line, str) else line for line in lines]
    return KernelReading(at_s=at_s, origin="/dev/kmsg", lines=tuple(known), **fields)  # type: ignore[arg-type]
