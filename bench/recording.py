"""What a recording takes: MB a minute and CPU, with 8 ranks and 8 GPUs at 1 Hz (recorded sessions of tests/data).

    python -m bench.recording

The last two columns: the same rows each compressed alone, and with a dictionary that zstd has trained on the first half minute.

Below: recordings of several nodes. Each node reports the recorded job, its numbers scaled by a factor of its own: no node has the numbers
of another one, and what does not change on one machine does not change on any node.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from hwtop.fleet.condense import condensed
from hwtop.model.fleet import FleetReading, Node, NodeReport
from hwtop.store.encoding import encoded
from hwtop.store.kind import FLEET, MACHINE, Kind, Reading
from hwtop.store.writer import Writer
from tests.recording import load, replay

SESSIONS = ("healthy", "hang", "gpu-errors", "gpu-lost", "input-bound")
FLEETS = (("healthy", 8), ("hang", 8), ("healthy", 64))
_RANKS = 8
_FACTOR = 0.013
_SMALL = 1_000
"""Numbers of ranks, steps and lines stay as they are."""
_MEGABYTE = 1e6


def written(readings: list[Any], folder: Path, kind: Kind[Any] = MACHINE) -> tuple[int, float]:
    """(bytes of the file, seconds of CPU) of these."""
    place = folder / "run.hwtop"
    writer = Writer(place, kind=kind)
    before_s = time.process_time()
    for reading in readings:
        writer.add(reading)
    cpu_s = time.process_time() - before_s
    writer.close()
    size = place.stat().st_size
    place.unlink()
    return size, cpu_s


def fleet_readings(session: str, count: int) -> list[FleetReading]:
    """A second each, of so many nodes."""
    frames = [frame for frame in replay(session) if frame.derived.job and len(frame.derived.job.ranks) == _RANKS]
    found = []
    for frame in frames:
        report = msgspec.msgpack.decode(encoded(condensed(frame)))
        nodes = tuple(node(number, report) for number in range(count))
        derived = frame.derived
        found.append(FleetReading(time_s=derived.time_s, at_s=derived.at_s, interval_s=1.0, nodes=nodes))
    return found


def node(number: int, report: Any) -> Node:
    """With ranks and numbers of its own."""
    own: NodeReport = msgspec.convert(scaled(report, 1 + number * _FACTOR), NodeReport, strict=False)
    job = own.job
    assert job is not None
    ranks = tuple(msgspec.structs.replace(rank, rank=number * _RANKS + rank.rank) for rank in job.ranks)
    own = msgspec.structs.replace(
        own, host=f"node-{number:02}", job=msgspec.structs.replace(job, ranks=ranks), number=int(own.at_s)
    )
    return Node(name=own.host, status="reporting", age_s=own.at_s % 1, offset_s=0.01 * number, report=own)


def scaled(value: Any, factor: float) -> Any:
    """All its large numbers and its fractions."""
    if isinstance(value, dict):
        return {key: scaled(each, factor) for key, each in value.items()}
    if isinstance(value, list):
        return [scaled(each, factor) for each in value]
    if isinstance(value, float):
        return value * factor
    return int(value * factor) if isinstance(value, int) and value > _SMALL else value


def others(snapshots: Sequence[Reading]) -> tuple[int, int]:
    """Bytes of the rows, alone and with a trained dictionary (which is counted)."""
    rows: list[bytes | bytearray | memoryview] = [encoded(snapshot) for snapshot in snapshots]
    trained = zstandard.train_dictionary(110_000, rows[:30])
    alone, dictionary = zstandard.ZstdCompressor(), zstandard.ZstdCompressor(dict_data=trained)
    return sum(len(alone.compress(row)) for row in rows), sum(len(dictionary.compress(row)) for row in rows) + len(
        alone.compress(trained.as_bytes())
    )


def main() -> None:
    print(f"{'session':12} {'GPUs':>4} {'MB/min':>7} {'% of a core':>11} {'alone':>7} {'trained':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name in SESSIONS:
            snapshots = load(name)
            minutes = (snapshots[-1].at_s - snapshots[0].at_s) / 60
            size, cpu_s = written(snapshots, Path(folder))
            alone, trained = (each / minutes / _MEGABYTE for each in others(snapshots))
            gpu = snapshots[-1].gpu
            gpus = len(gpu.gpus) if gpu else 0
            print(
                f"{name:12} {gpus:>4} {size / minutes / _MEGABYTE:7.2f} {100 * cpu_s / (60 * minutes):11.3f} {alone:7.2f} {trained:7.2f}"
            )
        print(f"\n{'nodes':>5} {'session':12} {'MB/min':>7} {'% of a core':>11} {'bytes/s and node':>17}")
        for name, count in FLEETS:
            readings = fleet_readings(name, count)
            seconds = readings[-1].at_s - readings[0].at_s
            size, cpu_s = written(readings, Path(folder), FLEET)
            each = size / seconds / count
            print(
                f"{count:>5} {name:12} {60 * size / seconds / _MEGABYTE:7.2f} {100 * cpu_s / seconds:11.2f} {each:17.0f}"
            )


if __name__ == "__main__":
    main()
