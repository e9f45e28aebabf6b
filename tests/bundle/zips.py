"""Bundles to open, and what is in one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from hwtop.store.reader import Recording


def members(place: Path) -> dict[str, bytes]:
    """All of a bundle, by name."""
    with zipfile.ZipFile(place) as file:
        return {name: file.read(name) for name in file.namelist()}


def manifest(place: Path) -> dict[str, Any]:
    """What it says of itself."""
    found: dict[str, Any] = json.loads(members(place)["manifest.json"])
    return found


def texts(place: Path, folder: Path) -> dict[str, str]:
    """All that can be read in a bundle, by member; of the recording each Snapshot."""
    found = {name: content.decode(errors="replace") for name, content in members(place).items()}
    if "recording.hwtop" in found:
        extracted = folder / "extracted.hwtop"
        extracted.write_bytes(members(place)["recording.hwtop"])
        recording = Recording(extracted)
        found["recording.hwtop"] = "\n".join(map(str, recording.snapshots()))
        recording.close()
    return found


def zipped(place: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip file of these."""
    with zipfile.ZipFile(place, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return place
