"""What other programs answer: py-spy, faulthandler, Flight Recorder dumps, metrics files, heartbeats."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import rmtree

import msgspec
from msgspec.structs import replace

from hwtop.collectors.flight.file import parse as parse_flight
from hwtop.collectors.metrics.heartbeat import HeartbeatSource
from hwtop.collectors.metrics.source import MetricsSource
from hwtop.collectors.stacks import pyspy, pyspy_record
from hwtop.collectors.stacks.faulthandler_text import parse_faulthandler
from hwtop.job.flight.dump import trimmed
from hwtop.job.metrics.files import kind_of
from hwtop.job.ras.error import RasError
from hwtop.job.ras.report import parse as parse_ras
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.flight import FlightReading
from hwtop.model.reported.metrics import MetricsTarget
from hwtop.model.reported.ras import RasReading
from hwtop.model.stack import StackDump, StackProfile, StackReading
from tests.flight_dumps import FOLDER, document, op
from tests.fuzz.claims import assembled, moments, possible
from tests.fuzz.target import Samples, Target
from tests.metrics_files import DATA as METRICS

DATA = Path(__file__).parent.parent / "data"
_RANKS = (23056, 23057)
"""PIDs of two ranks of the recorded job."""


def _stacks() -> Samples:
    return {
        "dump": [path.read_bytes() for path in sorted((DATA / "stacks").glob("*.json"))],
        "speedscope": [path.read_bytes() for path in sorted((DATA / "stacks").glob("*.speedscope"))],
        "faulthandler": [
            b'Current thread 0x7f01 (most recent call first):\n  File "/a.py", line 3 in step\n  File "/a.py", line ??? in <module>\n'
        ],
    }


def _check_stacks(variant: str, data: bytes, folder: Path) -> None:
    moment, _second = moments()
    pid, at_s = _RANKS[0], moment.at_s
    reading = StackReading(at_s=at_s, dumps=())
    try:
        if variant == "speedscope":
            samples = pyspy_record.parse(data, pid, at_s - 4, at_s, ShortNames())
            profile = StackProfile(pid=pid, from_s=at_s - 4, to_s=at_s, samples=samples)
            reading = replace(reading, profiles=(profile,))
        else:
            text = data.decode("utf-8", "replace")
            threads = pyspy.parse(data, pid) if variant == "dump" else parse_faulthandler(text, ShortNames())
            reading = replace(reading, dumps=(StackDump(pid=pid, at_s=at_s, threads=threads),))
    except (msgspec.MsgspecError, UnicodeDecodeError, IndexError):
        return  # as documented: the caller shows the reason
    possible(reading, "stacks")
    assembled({"stacks": reading})


def _dumps() -> Samples:
    recorded = sorted(FOLDER.glob("*_?"))
    made = document(op("all_reduce", 1, state="completed"), op("all_gather", 2, at="step 7"), world=2)
    return {
        "pickle": [*(path.read_bytes() for path in recorded), pickle.dumps(made, 2)],
        "json": [path.read_bytes() for path in sorted(FOLDER.glob("*.json"))],
    }


def _check_flight(_: str, data: bytes, folder: Path) -> None:
    """A dump of one rank is spoilt, that of the other is whole."""
    whole = (FOLDER / "missing_1").read_bytes()
    dumps = [
        trimmed(parse_flight(each, rank=rank, origin=f"/tmp/{rank}", at_s=1.0, taken_s=2e9))
        for rank, each in enumerate((data, whole))
    ]
    for dump in dumps:
        possible(dump, "dump")
        msgspec.msgpack.encode(dump)
    assembled({"flight": FlightReading(at_s=1.0, dumps=tuple(dumps))})


def _metrics() -> Samples:
    found: dict[str, list[bytes]] = {}
    for path in sorted(METRICS.rglob("*")):
        if path.is_file() and kind_of(str(path)) is not None:
            found.setdefault(str(path.relative_to(METRICS)), []).append(path.read_bytes())
    found["metrics.jsonl"] = [b'{"step": 1, "loss": 2.5, "lr": 1e-3}\n{"step": 2, "loss": NaN, "epoch": 0.5}\n']
    state = (
        b'{"max_steps": 100, "log_history": [{"loss": 2.5, "step": 1, "epoch": 0.1}, {"eval_loss": 2.0, "step": 1}]}'
    )
    found["checkpoint-1/trainer_state.json"] = [state]
    return found


def _check_metrics(variant: str, data: bytes, folder: Path) -> None:
    """Written in two pieces, as a training writes it."""
    place = folder / "job"
    rmtree(place, ignore_errors=True)
    path = place / variant
    path.parent.mkdir(parents=True, exist_ok=True)
    source = MetricsSource()
    target = MetricsTarget(pid=os.getpid(), own_pid=os.getpid(), rank=0, folders=(str(place),))
    source.set_plan(SamplingPlan(metrics=(target,)))
    readings = []
    for part in (data[: len(data) // 2], data):
        path.write_bytes(part)
        reading = source.read()
        possible(reading, "metrics")
        readings.append({"metrics": reading})
    source.close()
    assembled(*readings)


@cache
def _page() -> bytes:
    """What a training process leaves in its page."""
    code = (
        "import glob, os, sys; from hwtop import heartbeat\n"
        "for step in range(9): heartbeat(step=step, loss=1 / (1 + step), lr=0.1, tokens_per_s=1e4)\n"
        "heartbeat(step=9, weight='text')\n"
        "names = glob.glob(f'/dev/shm/hwtop-*-{os.getpid()}') + glob.glob(f'/run/user/*/hwtop-*-{os.getpid()}')\n"
        "sys.stdout.buffer.write(os.getpid().to_bytes(8, 'little') + open(names[0], 'rb').read())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    pid, page = ran.stdout[:8], bytearray(ran.stdout[8:])
    assert page[16:24] == pid
    page[16:32] = _RANKS[0].to_bytes(8, sys.byteorder) + bytes(8)
    return bytes(page)


def _pages() -> Samples:
    return {"": [_page()]}


def _check_heartbeat(_: str, data: bytes, folder: Path) -> None:
    pid = _RANKS[0]
    place = folder / str(pid) / "root" / "dev" / "shm" / f"hwtop-0-{pid}"
    place.parent.mkdir(parents=True, exist_ok=True)
    source = HeartbeatSource(proc=str(folder))
    source.set_plan(SamplingPlan(metrics=(MetricsTarget(pid=pid, own_pid=pid, rank=0, uid=os.getuid()),)))
    readings = []
    for content in (_page(), data):
        place.write_bytes(content)
        readings.append({"heartbeat": source.read()})
    assembled(*readings)


def _reports() -> Samples:
    return {"": [path.read_bytes() for path in sorted((DATA / "ras").iterdir())]}


def _check_ras(_: str, data: bytes, folder: Path) -> None:
    moment, _second = moments()
    try:
        report, missing = parse_ras(data), {}
    except RasError as error:
        report, missing = None, {"report": str(error)}
    reading = RasReading(at_s=moment.at_s, report=report, reported_at_s=moment.at_s, missing=missing)
    possible(reading, "ras")
    assembled({"ras": reading})


TARGETS = (
    Target("stacks", _stacks, _check_stacks),
    Target("flight", _dumps, _check_flight),
    Target("metrics", _metrics, _check_metrics),
    Target("heartbeat", _pages, _check_heartbeat),
    Target("ras", _reports, _check_ras),
)
