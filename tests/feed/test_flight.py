"""The Flight Recorder of a real job that hangs, asked for over torch's worker server."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.feed.watch import watch
from hwtop.model.flight import FlightVerdict
from hwtop.model.job import Job
from tests.training import job_file, start_torchrun

pytestmark = pytest.mark.real

_DEADLINE_S = 60.0


def test_a_live_mismatch_is_named_with_both_call_sites(tmp_path: Path) -> None:
    with start_torchrun(
        job_file("mismatch_server"), tmp_path, env={"TORCH_WORKER_SERVER_SOCKET": f"{tmp_path}/ws_"}
    ) as job:
        job.wait_for_line(r"step +7\b")
        verdict, last = first_verdict(job.launcher_pid)
    assert verdict is not None, last
    assert (verdict.kind, verdict.sequence, verdict.group) == ("mismatch", 8, "default_pg")
    assert "rank 0 enqueued all_reduce #8 [1024] float32 (now at mismatch_server.py:16 train_step)" in verdict.text
    assert "rank 1 broadcast #8 [8] float32 (now at mismatch_server.py:20 save_checkpoint)" in verdict.text
    assert last is not None and any("debug server" in sentence for sentence in last.flight.settings)


def first_verdict(pid: int) -> tuple[FlightVerdict | None, Job | None]:
    last = None
    frames = watch(pid, seconds=_DEADLINE_S)
    for frame in frames:
        last = frame.derived.job
        if last is not None and last.flight.verdict is not None and "save_checkpoint" in last.flight.verdict.text:
            frames.close()
            return last.flight.verdict, last
    return None, last
