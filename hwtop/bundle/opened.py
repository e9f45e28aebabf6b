"""Opens a bundle of somebody else: only members of known names are read, each up to a size, and nothing is extracted by its name."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from hwtop.errors import UsageError
from hwtop.store.reader import FleetRecording, Recording, is_of_fleet

RECORDING = "recording.hwtop"
_MOST_RECORDING_BYTES = 256 << 20
"""Hours of a large job; a bundle holds an hour at most."""
_MOST_READ_BYTES = 1 << 20
"""At once, so also of the list of members."""
_BLOCK_BYTES = 256 << 10
_MAGIC = b"PK\3\4"
_ENCRYPTED = 1


class _BoundedFile(io.FileIO):
    """Refuses to fill the memory: a zip file says itself how long its list of members is."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = max(0, os.fstat(self.fileno()).st_size - self.tell())
        if size > _MOST_READ_BYTES:
            raise zipfile.BadZipFile("its list of members is too long")
        return super().read(size) or b""


def recording(place: Path) -> Recording:
    """A recording, or the one in a bundle.

    Raises:
        UsageError: it is neither, is damaged, or may do harm.
    """
    if not is_bundle(place):
        return Recording(place)
    with tempfile.TemporaryDirectory(prefix="hwtop-") as folder:
        extracted = Path(folder) / RECORDING
        with extracted.open("xb") as file:
            for block in _blocks(place, RECORDING, _MOST_RECORDING_BYTES):
                file.write(block)
        return Recording(extracted, f"{place}: {RECORDING}")  # stays open when its name is gone


def any_recording(place: Path) -> Recording | FleetRecording:
    """The same, or a recording of several nodes.

    Raises:
        UsageError: as of `recording`.
    """
    return FleetRecording(place) if is_of_fleet(place) else recording(place)


def text(place: Path, member: str, most_bytes: int) -> str:
    """A member of a bundle.

    Raises:
        UsageError: it is no bundle, has no such member, or a larger one.
    """
    return b"".join(_blocks(place, member, most_bytes)).decode(errors="replace")


def is_bundle(place: Path) -> bool:
    """Whether it is a zip file; False for a recording."""
    with contextlib.suppress(OSError, ValueError):
        if stat.S_ISREG(os.stat(place).st_mode):
            with place.open("rb") as file:
                return file.read(len(_MAGIC)) == _MAGIC
    return False


def _blocks(place: Path, member: str, most_bytes: int) -> Iterator[bytes]:
    name = repr(str(place))
    try:
        with _BoundedFile(place) as file, zipfile.ZipFile(file) as bundle:
            entry = _entry(bundle, member, name)
            left = most_bytes
            with bundle.open(entry) as content:
                while block := content.read(_BLOCK_BYTES):
                    left -= len(block)
                    if left < 0:
                        raise UsageError(f"{name} is refused: {member} is larger than {most_bytes >> 20} MB")
                    yield block
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError) as error:
        raise UsageError(f"{name} is a damaged bundle: {error}") from None


def _entry(bundle: zipfile.ZipFile, member: str, name: str) -> zipfile.ZipInfo:
    entries = bundle.infolist()
    odd = next(
        (entry for entry in entries if entry.filename.startswith("/") or ".." in entry.filename.split("/")), None
    )
    if odd is not None:
        raise UsageError(f"{name} is refused: its member {odd.filename!r} is outside of the bundle")
    found = [entry for entry in entries if entry.filename == member]
    if len(found) != 1:
        raise UsageError(f"{name} has {'no' if not found else 'more than one'} {member}")
    if found[0].flag_bits & _ENCRYPTED or found[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UsageError(f"{name} is refused: {member} is not stored as hwtop stores it")
    return found[0]
