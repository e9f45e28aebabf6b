"""Recordings of others: a damaged file, and a whole one with readings that nobody has made; of one machine and of several nodes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hwtop.commands.saved.replay import frames_of
from hwtop.config import EVERY_SYMPTOM
from hwtop.errors import UsageError
from hwtop.report.frame import fleet, json_report
from hwtop.report.json_text import encode
from hwtop.store.encoding import encoded
from hwtop.store.kind import FLEET, MACHINE
from hwtop.store.packing import UnreadableError, decoded
from hwtop.store.reader import FleetRecording, Recording
from tests.fleet import sessions as fleets
from tests.fuzz.claims import printable_json
from tests.fuzz.target import Samples, Target
from tests.store.sessions import hang, written


def _load() -> Samples:
    nodes = fleets.hang()[fleets.FOCUSED[0] : fleets.FOCUSED[0] + 6]
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "run.hwtop", hang()[:6]).read_bytes()
        fleet_file = fleets.written(Path(folder) / "fleet.hwtop", nodes).read_bytes()
    return {
        "file": [file],
        "fleet-file": [fleet_file],
        "fleet-reading": list(map(encoded, nodes)),
        "snapshot": [encoded(snapshot) for snapshot in hang()[:6]],
    }


def _check(variant: str, data: bytes, folder: Path) -> None:
    place = folder / "run.hwtop"
    place.unlink(missing_ok=True)
    try:
        if variant == "snapshot":
            written(place, [decoded(data, MACHINE), *hang()[6:8]])
        elif variant == "fleet-reading":
            fleets.written(place, [decoded(data, FLEET), *fleets.hang()[-2:]])
        else:
            place.write_bytes(data)
        recording = FleetRecording(place) if variant.startswith("fleet") else Recording(place)
    except (UnreadableError, UsageError):
        return
    for frame in frames_of(recording, EVERY_SYMPTOM):
        printable_json(encode(fleet.diagnosis(frame) if frame.nodes else json_report.diagnosis(frame)))
    recording.close()


TARGETS = (Target("recording", _load, _check),)
