"""A real process whose output goes nowhere: its step comes by heartbeat, its curves from the file that it writes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from hwtop.derive.plan import plan_of
from hwtop.derive.state import StateBuilder
from hwtop.feed.live import LiveSource
from hwtop.model.job import Job
from hwtop.model.plan import UserFocus

pytestmark = pytest.mark.real

ROOT = Path(__file__).parent.parent.parent
DEADLINE_S = 60.0
TRAINING = """
    import sys, time
    from hwtop import heartbeat
    table = open("metrics.csv", "w", buffering=1)
    print("step,train_loss", file=table)
    for step in range(100_000):
        print(f"{step},{1 / (1 + step)}", file=table)
        heartbeat(step=step, loss=1 / (1 + step), lr=0.1)
        time.sleep(0.05)
"""


def watched(pid: int) -> Job:
    """The job once its heartbeat and its file have been read."""
    source, builder = LiveSource(target_pid=pid, interval_s=0.5), StateBuilder()
    end_s = time.monotonic() + DEADLINE_S
    try:
        for snapshot in source:
            derived = builder.advance(snapshot)
            plan = plan_of(derived, UserFocus())
            if plan is not None:
                source.set_plan(plan)
            job = derived.job
            reported = {curve.source for curve in job.metrics.curves} if job is not None else set()
            if job is not None and any(path.endswith("metrics.csv") for path in reported) and len(reported) > 1:
                return job
            assert time.monotonic() < end_s, f"told so far: {reported}"
    finally:
        source.close()
    raise AssertionError("the source ended")


def test_a_silent_job_tells_its_step(tmp_path: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + textwrap.dedent(TRAINING)
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        job = watched(process.pid)
    finally:
        process.kill()
        process.wait()
    (rank,) = job.ranks
    assert rank.progress.newest is not None
    assert rank.progress.newest.step is not None
    assert rank.progress.newest.lr == 0.1
    assert rank.progress.reporter == "heartbeat"
    assert rank.progress.step_time_s is not None
    assert {curve.name for curve in job.metrics.curves if curve.source == "heartbeat of rank 0"} >= {
        "loss",
        "lr",
        "step_time_s",
    }
    table = next(curve for curve in job.metrics.curves if curve.source.endswith("metrics.csv"))
    assert all(point.value == 1 / (1 + (point.step or 0)) for point in table.points)
