from __future__ import annotations

from msgspec.structs import replace

from hwtop.feed.assemble import Assembler
from hwtop.model.snapshot import SourceStatus
from tests.derive.readings import launcher, log_lines, logs, processes, rank, snapshot


def test_only_the_newest_moment_holds_log_lines() -> None:
    assembler = Assembler()
    for second in range(5):
        at_s = 10.0 + second
        lines = log_lines("/logs/rank_0.log", at_s, f"step {second} loss 2.5", first=second + 1)
        reading = processes(at_s, launcher(), rank(0, world=1))
        frame = assembler.advance(snapshot(at_s, process=reading, logs=logs(at_s, *lines)))
    jobs = [derived.job for derived in frame.history]
    assert [len(job.logs.lines) for job in jobs if job is not None] == [0, 0, 0, 0, 5]
    assert frame.derived.job is not None
    assert frame.derived.job.logs.lines[-1].text == "step 4 loss 2.5"


def test_past_moments_keep_of_the_sources_why_they_failed() -> None:
    """How long the driver has been silent is found in them."""
    assembler = Assembler()
    silent = SourceStatus(name="gpu", status="unavailable", reason="NVIDIA driver not answering", cost_ms=1.0)
    well = SourceStatus(name="cpu", status="ok", age_s=0.1, cost_ms=0.2)
    for second in range(3):
        frame = assembler.advance(replace(snapshot(10.0 + second), sources=(well, silent)))
    assert [[each.name for each in derived.sources] for derived in frame.history] == [["gpu"], ["gpu"], ["cpu", "gpu"]]
    assert {derived.sources[-1].reason for derived in frame.history} == {"NVIDIA driver not answering"}
