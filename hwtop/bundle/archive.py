"""Archive: the members of a bundle, masked and within a size, and the zip file of them."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hwtop import __version__
from hwtop.bundle.mask import Mask
from hwtop.collectors.abandon import Abandonable
from hwtop.errors import HwtopError, internal_error
from hwtop.report.json_text import encode

Content = str | bytes | Struct | dict[str, Any]
"""Text, bytes that are masked already, or what becomes JSON."""
Members = Mapping[str, Content]
MANIFEST = "manifest.json"
FORMAT = 1
"""Of the manifest: raised when a member or key is removed or changes its meaning."""
_PART_S = 15.0
"""How long one part may take; a file may be on a dead mount."""
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip file can name: no times of this machine are in it but those in the members."""


class Manifest(Struct, frozen=True, kw_only=True):
    """`manifest.json`."""

    format: int = FORMAT
    hwtop: str = __version__
    pid: int
    time: float
    """When it was made, seconds after the epoch."""
    members: dict[str, int]
    """Name -> bytes."""
    not_collected: dict[str, str]
    """Part or member -> why."""
    masked: dict[str, dict[str, int]]
    """Member -> kind of secret -> how many. Never a value."""
    hidden: tuple[str, ...] = ()
    """What else was masked: hosts, users, paths."""


class Archive:
    """One bundle until it is written."""

    def __init__(self, pid: int, mask: Mask, most_bytes: int) -> None:
        """`most_bytes`: of all members, before compression; what does not fit is left out."""
        self._pid, self._mask, self._left = pid, mask, most_bytes
        self._members: dict[str, bytes] = {}
        self._not_collected: dict[str, str] = {}

    def collect(self, part: str, work: Callable[[], Members]) -> None:
        """Add the members that `work` returns; where it fails or does not return in time, the manifest says why."""
        try:
            for name, content in Abandonable("bundle", work, time.monotonic).poll(_PART_S).items():
                self.add(name, content)
        except (HwtopError, OSError) as error:  # TimeoutError is an OSError
            self.leave_out(part, _reason(error))
        except Exception as error:  # the other parts are worth having
            self.leave_out(part, internal_error(error))

    def add(self, name: str, content: Content) -> None:
        """Mask it and keep it, if it fits."""
        name = self._named(name)
        packed = self._packed(name, content)
        if len(packed) > self._left:
            self.leave_out(name, f"{len(packed):,} bytes: the bundle would be larger than allowed")
            return
        self._members[name] = packed
        self._left -= len(packed)

    def leave_out(self, name: str, reason: str) -> None:
        """It is not in the bundle."""
        self._not_collected[self._named(name)] = self._mask.text(reason, MANIFEST)

    def content(self, time_s: float) -> bytes:
        """The zip file."""
        masked = {member: dict(counts) for member, counts in sorted(self._mask.counts.items()) if counts}
        manifest = Manifest(
            pid=self._pid,
            time=time_s,
            members={name: len(content) for name, content in self._members.items()},
            not_collected=self._not_collected,
            masked=masked,
            hidden=tuple(sorted(self._mask.hidden)),
        )
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in {MANIFEST: encode(manifest).encode(), **self._members}.items():
                entry = zipfile.ZipInfo(name, _OLDEST)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                file.writestr(entry, content)
        return written.getvalue()

    def _named(self, name: str) -> str:
        """The name of a log may hold a secret, and anything else."""
        return re.sub(r"[^\w./-]", "_", self._mask.text(name, "names of members"))

    def _packed(self, name: str, content: Content) -> bytes:
        if isinstance(content, bytes):
            return content
        if isinstance(content, str):
            return self._mask.text(content, name).encode(errors="replace")
        return encode(self._mask.value(msgspec.to_builtins(content), name)).encode()


def _reason(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error) or type(error).__name__
