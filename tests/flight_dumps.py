"""Flight Recorder dumps: recorded ones of gloo jobs, and made-up ones in the shape of NCCL's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hwtop.collectors.flight.folder import dumps_in
from hwtop.job.flight.dump import flight_dump
from hwtop.model.reported.flight import FlightDump
from tests.parts import replace

FOLDER = Path(__file__).parent / "data" / "flight_recorder"
TAKEN_S = 1_800_000_000.0
"""When the made-up dumps were taken; their operations are a minute older unless said otherwise."""
_SITE = "/opt/venv/lib/python3.12/site-packages/torch/distributed"


def recorded(kind: str) -> tuple[FlightDump, ...]:
    """The dumps of all ranks of a recorded job, as if taken a minute after the last operation."""
    dumps = dumps_in(str(FOLDER / f"{kind}_"))
    newest_s = max(entry.created_s or 0.0 for dump in dumps for entry in dump.entries)
    return tuple(replace(dump, taken_s=newest_s + 60) for dump in dumps)


def placed(kind: str, folder: Path) -> str:
    """A copy of the files of a recorded job, with the time that they were made at."""
    taken_s = recorded(kind)[0].taken_s or 0.0
    for path in FOLDER.glob(f"{kind}_*"):
        shutil.copy(path, folder)
        os.utime(folder / path.name, (taken_s, taken_s))
    return str(folder)


def op(
    name: str,
    sequence: int,
    *,
    sizes: Sequence[int] | None = (1024,),
    out: Sequence[int] | None = None,
    state: str = "scheduled",
    at: str = "train_step 231",
    group: tuple[str, str] = ("0", "default_pg"),
    age_s: float = 60.0,
    is_p2p: bool = False,
    dtype: str = "Float",
    pg_id: int | None = None,
) -> dict[str, Any]:
    """One entry as NCCL records it; `sizes` None = no tensors. `at`: function and line in train.py."""
    function, line = at.split()
    reported = [] if sizes is None else [list(sizes)]
    outs = reported if out is None else [list(out)]
    return {
        "frames": [
            {"name": name, "filename": f"{_SITE}/distributed_c10d.py", "line": 3245},
            {"name": "wrapper", "filename": f"{_SITE}/c10d_logger.py", "line": 83},
            {"name": function, "filename": "/home/ana/train.py", "line": int(line)},
            {"name": "<module>", "filename": "/home/ana/train.py", "line": 300},
        ],
        "record_id": sequence,
        "pg_id": int(group[0]) if pg_id is None else pg_id,
        "process_group": group,
        "collective_seq_id": 0 if is_p2p else sequence,
        "p2p_seq_id": sequence if is_p2p else 0,
        "op_id": sequence,
        "profiling_name": f"nccl:{name}",
        "time_created_ns": int((TAKEN_S - age_s) * 1e9),
        "input_sizes": reported,
        "input_dtypes": [dtype] * len(reported),
        "output_sizes": outs,
        "output_dtypes": [dtype] * len(outs),
        "state": state,
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
        "retired": state == "completed",
        "timeout_ms": 600000,
        "is_p2p": is_p2p,
    }


def nccl(
    rank: int,
    *entries: dict[str, Any],
    world: int,
    groups: Mapping[tuple[str, str], Sequence[int]] | None = None,
    status: dict[str, tuple[int, int, int]] | None = None,
    taken_s: float = TAKEN_S,
    is_asked: bool = False,
) -> FlightDump:
    """A dump of an NCCL job; `status`: pg_id -> last enqueued, started, completed (by default as the entries have it)."""
    return flight_dump(
        document(*entries, world=world, groups=groups, status=status),
        rank=rank,
        origin=f"/dumps/nccl_trace_rank_{rank}",
        at_s=taken_s,
        taken_s=taken_s,
        is_asked=is_asked,
    )


def document(
    *entries: dict[str, Any],
    world: int,
    groups: Mapping[tuple[str, str], Sequence[int]] | None = None,
    status: dict[str, tuple[int, int, int]] | None = None,
) -> dict[str, Any]:
    """What is in such a file."""
    known = {("0", "default_pg"): range(world), **(groups or {})}
    if status is None:
        status = {}
        for entry in entries:
            if not entry["is_p2p"]:
                key = str(entry["pg_id"])
                enqueued, started, done = status.get(key, (-1, -1, -1))
                number = entry["collective_seq_id"]
                done = max(done, number if entry["state"] == "completed" else -1)
                started = max(started, number if entry["state"] == "started" else -1)
                status[key] = (max(enqueued, number), started, done)
    return {
        "version": "2.10",
        "pg_config": {
            name: {"name": name, "desc": text, "ranks": str(list(ranks))} for (name, text), ranks in known.items()
        },
        "comm_lib_version": "2.27.5",
        "nccl_comm_state": {},
        "pg_status": {
            key: {
                "last_enqueued_collective": enqueued,
                "last_started_collective": started,
                "last_completed_collective": done,
            }
            for key, (enqueued, started, done) in status.items()
        },
        "entries": list(entries),
    }
