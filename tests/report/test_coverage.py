"""What was not seen is said, so that nobody concludes from its absence."""

from __future__ import annotations

from hwtop.model.symptom import Blind
from hwtop.report.frame.coverage import Seen, coverage, coverage_text
from tests import frames
from tests.parts import replace


def test_ranks_elsewhere_refused_stacks_and_missing_gpus_have_their_reason() -> None:
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    refused = replace(job.ranks[3], phase=None)
    changed = replace(job, world_size=16, ranks=(*job.ranks[:3], refused, *job.ranks[4:]))
    blind = (
        Blind(source="ranks", reason="8 of 16 ranks are visible on this machine"),
        Blind(source="stacks", reason="rank 3: py-spy: no permission to read the process"),
        Blind(source="gpu", reason="no NVIDIA driver"),
    )
    found = coverage(replace(frame, derived=replace(frame.derived, job=changed, gpus=()), blind=blind))
    assert found.ranks == Seen(seen=8, of=16, reason=blind[0].reason)
    assert found.stacks == Seen(seen=7, of=8, reason=blind[1].reason)
    assert found.gpus == Seen(seen=0, of=None, reason="no NVIDIA driver")
    assert found.steps == Seen(seen=8, of=8)
    assert coverage_text(found).startswith("ranks 8 of 16 (8 of 16 ranks are visible on this machine), stacks 7 of 8 (")


def test_without_a_job_nothing_is_covered() -> None:
    found = coverage(frames.picker())
    assert (found.ranks, found.stacks.seen, found.logs.seen) == (Seen(seen=0, of=None), 0, 0)
