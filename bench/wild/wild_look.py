"""What `hwtop diagnose` says of a job, run as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from wild_case import Case
from wild_job import Job, happen

ROOT = Path(__file__).parents[2]
BEFORE_S = 3.0
"""hwtop has begun to look by then: what happens "during" happens before its eyes."""
SLACK_S = 120.0
NOT_POSSIBLE = 2
"""Exit code of hwtop if it cannot say anything of the job."""


class _Target(msgspec.Struct, frozen=True):
    watched_s: float
    time: float
    """End of the look, seconds since the epoch."""


class Episode(msgspec.Struct, frozen=True):
    """A finding while it was raised."""

    symptom: str
    severity: str
    title: str
    raised_s: float | None
    """Seconds since hwtop started."""
    cleared_s: float | None


class Report(msgspec.Struct, frozen=True):
    """The keys of `diagnose --json` that are judged."""

    target: _Target
    verdict: dict[str, Any]
    findings: tuple[dict[str, Any], ...] = ()
    """Most important first."""
    episodes: tuple[Episode, ...] = ()


class Look(msgspec.Struct, frozen=True):
    """One look at one job."""

    report: Report | None
    """None: hwtop could not say anything, for the reason in `why`."""
    raw: bytes
    """What hwtop printed."""
    why: str
    fault_s: float
    """When the fault was there to see, in seconds since hwtop started to watch."""


def look(case: Case, job: Job) -> Look:
    """Watch the job; where the case plants its fault from outside, plant it."""
    with tempfile.TemporaryDirectory(prefix="look-") as home:
        command = [sys.executable, "-m", "hwtop", "diagnose", str(job.pid), "--for", f"{case.watch_s:g}s", "--json"]
        fresh = {"XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}  # no memory of earlier runs
        env = {**os.environ, **fresh, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=env, cwd=home, stdout=pipe, stderr=pipe) as hwtop:
            try:
                fault_at = 0.0
                if case.during is not None:
                    time.sleep(BEFORE_S)
                    happen(case.during, job)
                    fault_at = time.time()
                out, err = hwtop.communicate(timeout=case.watch_s + SLACK_S)
            finally:
                hwtop.kill()
    why = err.decode(errors="replace").strip()
    if hwtop.returncode == NOT_POSSIBLE:
        return Look(None, out, why, 0.0)
    if not out:
        raise OSError(f"hwtop ended with exit code {hwtop.returncode}: {why[-300:]}")
    report = msgspec.json.decode(out, type=Report)
    began_at = report.target.time - report.target.watched_s
    return Look(report, out, why, max(0.0, fault_at - began_at))
