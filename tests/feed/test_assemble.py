from __future__ import annotations

from hwtop.feed.assemble import Assembler
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
