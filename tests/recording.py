"""Recorded sessions: the snapshots of a real watch, kept as data for tests and pictures.

    python -m tests.recording PID FILE --for 40 --scrub /home/me=/home/user

One file is a zstd-compressed MessagePack list of Snapshots, as they were read; everything else is derived again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import zstandard

from hwtop.feed.feed import frames
from hwtop.feed.live import LiveSource
from hwtop.feed.watch import HEADLESS_STACK_BUDGET_PCT
from hwtop.model.frame import Frame
from hwtop.model.plan import SamplingPlan
from hwtop.model.snapshot import Snapshot

RECORDINGS = Path(__file__).parent / "data" / "recordings"


def load(name: str) -> list[Snapshot]:
    """The snapshots of tests/data/recordings/NAME.mpk.zst."""
    packed = (RECORDINGS / f"{name}.mpk.zst").read_bytes()
    return msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(packed), type=list[Snapshot])


@cache
def replay(name: str) -> list[Frame]:
    """What hwtop makes of a recording now; worked out once."""
    return list(frames(load(name)))


def save(snapshots: list[Snapshot], file: Path, scrub: dict[str, str]) -> None:
    """Write them, each key of `scrub` replaced in all texts: paths and names that are nobody's business."""
    text = msgspec.json.encode(snapshots).decode()
    for old, new in scrub.items():
        text = text.replace(old, new)
    clean = msgspec.json.decode(text, type=list[Snapshot])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(zstandard.ZstdCompressor(level=19).compress(msgspec.msgpack.encode(clean)))


def nobodys(folder: Path) -> dict[str, str]:
    """What `save` must replace in a session whose job ran in `folder`: where this checkout, this Python and this machine are."""
    return {
        str(folder): "/runs/gpt",
        str(Path(__file__).parent.parent): "/home/user/train",
        sys.prefix: "/home/user/venv",
        sys.base_prefix: "/usr",
        os.uname().nodename: "gpu-node-07",
        _own_cgroup(): "/user.slice",
    }


def _own_cgroup() -> str:
    """Path in /proc/self/cgroup of whatever holds this job; "/" in every text must stay as it is."""
    paths = [line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return max((path for path in paths if len(path) > 1), key=len, default="no cgroup of its own")


class _Kept:
    """A live source that keeps what passes."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source
        self.snapshots: list[Snapshot] = []

    def __iter__(self) -> Iterator[Snapshot]:
        for snapshot in self._source:
            self.snapshots.append(snapshot)
            yield snapshot

    def set_plan(self, plan: SamplingPlan) -> None:
        self._source.set_plan(plan)


def record(pid: int, seconds: float, interval_s: float = 1.0) -> list[Snapshot]:
    """Watch as the screen does."""
    source = LiveSource(target_pid=pid, interval_s=interval_s, stack_budget_pct=HEADLESS_STACK_BUDGET_PCT)
    kept = _Kept(source)
    for frame in frames(kept):
        if frame.watched_s >= seconds:
            break
    source.close()
    return kept.snapshots


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pid", type=int)
    parser.add_argument("file", type=Path)
    parser.add_argument("--for", dest="seconds", type=float, default=40.0)
    parser.add_argument("--scrub", action="append", default=[], metavar="OLD=NEW")
    arguments = parser.parse_args()
    scrub = dict(pair.split("=", 1) for pair in arguments.scrub)
    save(record(arguments.pid, arguments.seconds), arguments.file, scrub)


if __name__ == "__main__":
    main()
