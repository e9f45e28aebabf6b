"""Recordings of others: a damaged file, and a whole one with Snapshots that nobody has read."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hwtop.errors import UsageError
from hwtop.feed.feed import frames
from hwtop.report.json_report import diagnosis, encode
from hwtop.store.encoding import encoded
from hwtop.store.kind import MACHINE
from hwtop.store.packing import UnreadableError, decoded
from hwtop.store.reader import Recording
from tests.fuzz.claims import printable_json
from tests.fuzz.target import Samples, Target
from tests.store.sessions import hang, written


def _load() -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "run.hwtop", hang()[:6]).read_bytes()
    return {"file": [file], "snapshot": [encoded(snapshot) for snapshot in hang()[:6]]}


def _check(variant: str, data: bytes, folder: Path) -> None:
    place = folder / "run.hwtop"
    place.unlink(missing_ok=True)
    if variant == "file":
        place.write_bytes(data)
    else:
        try:
            written(place, [decoded(data, MACHINE), *hang()[6:8]])
        except UnreadableError:
            return
    try:
        recording = Recording(place)
    except UsageError:
        return
    for frame in frames(recording.snapshots()):
        printable_json(encode(diagnosis(frame)))
    recording.close()


TARGETS = (Target("recording", _load, _check),)
