"""What a recording takes: MB a minute and CPU, with 8 ranks and 8 GPUs at 1 Hz (recorded sessions of tests/data).

    python -m bench.recording

The last two columns: the same rows each compressed alone, and with a dictionary that zstd has trained on the first half minute.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import zstandard

from hwtop.model.snapshot import Snapshot
from hwtop.store.encoding import encoded
from hwtop.store.writer import Writer
from tests.recording import load

SESSIONS = ("healthy", "hang", "gpu-errors", "gpu-lost", "input-bound")
_MEGABYTE = 1e6


def written(snapshots: list[Snapshot], folder: Path) -> tuple[int, float]:
    """(bytes of the file, seconds of CPU) of these."""
    place = folder / "run.hwtop"
    writer = Writer(place)
    before_s = time.process_time()
    for snapshot in snapshots:
        writer.add(snapshot)
    cpu_s = time.process_time() - before_s
    writer.close()
    size = place.stat().st_size
    place.unlink()
    return size, cpu_s


def others(snapshots: list[Snapshot]) -> tuple[int, int]:
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


if __name__ == "__main__":
    main()
