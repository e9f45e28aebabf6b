"""The kernel's log: /dev/kmsg, or the journal where that may not be read.

Reading /dev/kmsg takes nothing away from others, and every reader begins with the oldest record that the kernel still has
(Documentation/ABI/testing/dev-kmsg).
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from hwtop.collectors.child import Children
from hwtop.collectors.host.block_devices import disks_below, mapper_names
from hwtop.collectors.kernel.journal import JournalFollower, refusal
from hwtop.collectors.kernel.record import Record, parse_kmsg
from hwtop.collectors.procfs import read_text
from hwtop.job.kernel.oom_report import LITERALS
from hwtop.job.patterns.kernel import kernel_registry
from hwtop.model.host.kernel import KernelLine, KernelReading
from hwtop.model.plan import SamplingPlan

RECENT_S = 600.0
"""Of records that were there before hwtop those of this time are all kept; of older ones what a pattern may match."""
_LIMIT = 10_000
"""Records in one read: about what the usual buffer of 1 MiB holds; of a larger one the rest comes with the next read."""
_KEPT = 1000
"""Lines in one reading before those are left out that no pattern can match ..."""
_MATCHING_KEPT = 5000
"""... and before the oldest of the others are."""
_RECORD_BYTES = 32 * 1024
"""The kernel's own limit for one record with its properties is 8 KiB (PRINTK_MESSAGE_MAX, formerly CONSOLE_EXT_LOG_MAX)."""
_ASK_AGAIN_S = 60.0
_TEXT_LENGTH = 16_384
INITIAL_PID_NAMESPACE = "pid:[4026531836]"
"""PROC_PID_INIT_INO of include/linux/proc_ns.h."""
_BLOCK_DEVICE = re.compile(r"\b(?:dm-|md|sd[a-z]|vd[a-z]|xvd[a-z]|nvme)\w*")


class _Reader(Protocol):
    """Either of the two ways."""

    def read(self, limit: int) -> Sequence[Record]:
        """New records; never blocks."""

    def close(self) -> None:
        """Release it."""


class KmsgReader:
    """An open /dev/kmsg."""

    def __init__(self, path: str, read: Callable[[int, int], bytes] = os.read) -> None:
        """Raises OSError where it may not be read."""
        self._read = read
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def read(self, limit: int) -> Sequence[Record]:
        """New records, oldest first, pieces of one line joined."""
        records: list[Record] = []
        for _ in range(limit):
            try:
                raw = self._read(self._descriptor, _RECORD_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                # EPIPE: overwritten before they were read, EINVAL: longer than the buffer; the next read goes on behind
                if error.errno not in (errno.EPIPE, errno.EINVAL):
                    raise
                continue
            if not raw:
                break
            if (record := parse_kmsg(raw)) is not None:
                records.append(record)
        return records

    def close(self) -> None:
        """Close it."""
        with suppress(OSError):
            os.close(self._descriptor)


class KernelLogSource:
    """Delivers each record once. What was there before hwtop came is marked as past."""

    name = "kernel"
    every_s = 1.0

    def __init__(
        self,
        *,
        kmsg: str = "/dev/kmsg",
        journalctl: str = "journalctl",
        proc: str = "/proc",
        sys: str = "/sys",
        now: Callable[[], float] = time.monotonic,
        read: Callable[[int, int], bytes] = os.read,
    ) -> None:
        self._kmsg = kmsg
        self._journalctl = journalctl
        self._proc = proc
        self._sys = sys
        self._now = now
        self._read_kmsg = read
        self._literals = (*kernel_registry().literals(), *LITERALS)
        self._reader: _Reader | None = None
        self._origin = kmsg
        self._children = Children(end_at_exit=True)
        self._refused: tuple[float, str] | None = None
        self._has_host_pids = True
        self._read_at_s = 0.0
        self._opened_at_s = 0.0
        self._is_past = True
        """The reader has not come to the end yet: what it delivers was there before."""
        self._last_sequence: int | None = None
        self._block_devices: dict[str, tuple[str, ...]] = {}
        self._aliases: dict[str, str] = {}

    def probe(self) -> str | None:
        """Why the kernel's log cannot be read, with the command that fixes it; None once one of the two ways is open."""
        try:
            self._reader = KmsgReader(self._kmsg, self._read_kmsg)
        except OSError as error:
            return self._probe_journal(error)
        self._has_host_pids = self._is_initial_namespace()
        return None

    def read(self) -> KernelReading:
        """The records that have come since the last read.

        Raises:
            OSError: the device or the child fails.
        """
        assert self._reader is not None, "probe() comes first"
        at_s = self._now()
        records = self._reader.read(_LIMIT)
        lost = self._lost(records)
        lines = self._joined(records, at_s)
        kept = self._chosen(lines, at_s)
        if any(_BLOCK_DEVICE.search(line.text) for line in kept):
            self._block_devices, self._aliases = disks_below(self._sys), mapper_names(self._sys)
        self._read_at_s = at_s
        self._is_past = self._is_past and len(records) >= _LIMIT
        return KernelReading(
            at_s=at_s,
            origin=self._origin,
            lines=tuple(kept),
            has_host_pids=self._has_host_pids,
            lost_lines=lost,
            skipped_lines=len(lines) - len(kept),
            block_devices=self._block_devices,
            aliases=self._aliases,
            missing={"lines": f"{lost} records were overwritten before they could be read"} if lost else {},
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """The kernel has one log for all."""

    def close(self) -> None:
        """Release the device and of children."""
        self._children.close()
        if self._reader is not None:
            self._reader.close()

    def _probe_journal(self, error: OSError) -> str | None:
        at_s = self._now()
        if self._refused is None or at_s - self._refused[0] >= _ASK_AGAIN_S:
            reason = refusal(self._journalctl, self._children)
            if reason is None:
                self._reader, self._origin = JournalFollower(self._journalctl), "journalctl"
                self._opened_at_s = at_s
                self._has_host_pids = self._is_initial_namespace()
                return None
            self._refused = (at_s, reason)
        return f"{self._why(error)} ({self._refused[1]})"

    def _why(self, error: OSError) -> str:
        """The kernel's refusal, and what one can do about it."""
        if error.errno == errno.ENOENT:
            return (
                f"no {self._kmsg} here: run hwtop on the host, or start the container with "
                "--device /dev/kmsg --cap-add SYSLOG"
            )
        if error.errno in (errno.EPERM, errno.EACCES):
            return (
                f"{self._kmsg} may not be read{self._restriction()}: run hwtop with sudo, or once "
                "`sudo sysctl kernel.dmesg_restrict=0`, or `sudo usermod -aG systemd-journal $USER`"
            )
        return f"{self._kmsg}: {(error.strerror or str(error)).lower()}"

    def _restriction(self) -> str:
        try:
            is_restricted = read_text(f"{self._proc}/sys/kernel/dmesg_restrict").strip() != "0"
        except OSError:
            return ""
        return " (kernel.dmesg_restrict=1)" if is_restricted else ""

    def _is_initial_namespace(self) -> bool:
        try:
            return os.readlink(f"{self._proc}/self/ns/pid") == INITIAL_PID_NAMESPACE
        except OSError:
            return True

    def _lost(self, records: Iterable[Record]) -> int:
        """Gaps in the numbers. What was overwritten before hwtop started does not count as lost."""
        lost = 0
        for record in records:
            if record.sequence is None:
                continue
            if self._last_sequence is not None:
                lost += max(0, record.sequence - self._last_sequence - 1)
            self._last_sequence = record.sequence
        return lost

    def _joined(self, records: Iterable[Record], at_s: float) -> list[KernelLine]:
        lines: list[KernelLine] = []
        for record in records:
            if record.continues and lines:
                lines[-1] = replace(lines[-1], text=(lines[-1].text + record.text)[:_TEXT_LENGTH])
            else:
                lines.append(self._line(record, at_s))
        return lines

    def _line(self, record: Record, at_s: float) -> KernelLine:
        """The kernel stamps with its scheduler's clock, which stands still in suspend as CLOCK_MONOTONIC does but is not
        steered by NTP, so the two drift apart. A record that came between two reads was written between them."""
        # the journal's child starts slowly: its first records may come at any time
        is_past = self._is_past or (self._origin == "journalctl" and record.time_s < self._opened_at_s)
        earliest_s = record.time_s if is_past else max(record.time_s, self._read_at_s)
        return KernelLine(
            text=record.text[:_TEXT_LENGTH],
            at_s=min(earliest_s, at_s),
            level=record.level,
            facility=record.facility,
            sequence=record.sequence,
            is_past=is_past,
            device=record.device,
        )

    def _chosen(self, lines: list[KernelLine], at_s: float) -> list[KernelLine]:
        """All recent lines, unless they are a flood; of the others those that a pattern may match."""
        recent = sum(at_s - line.at_s <= RECENT_S for line in lines)
        if recent == len(lines) <= _KEPT:
            return lines
        matching = self._matching(lines)
        is_flood = recent > _KEPT
        kept = [
            line
            for index, line in enumerate(lines)
            if index in matching or (not is_flood and at_s - line.at_s <= RECENT_S)
        ]
        return kept[-_MATCHING_KEPT:]

    def _matching(self, lines: Sequence[KernelLine]) -> set[int]:
        lowered = [line.text.lower() for line in lines]
        together = "\n".join(lowered)
        literals = [literal for literal in self._literals if literal in together]
        return {index for index, text in enumerate(lowered) if any(literal in text for literal in literals)}
