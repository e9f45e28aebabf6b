"""checkpoint-stall and recompile-storm."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.stacks.intervals import PhaseIntervals
from hwtop.model.rank import DataFile
from hwtop.model.rank_stack import Phase, PhaseInterval
from hwtop.model.reported.log import Progress
from hwtop.symptoms.history import History
from hwtop.symptoms.training.interruptions import check_checkpoint, check_recompile
from tests.symptoms.derived_states import constant, derived, event, history, job, rank


def intervals(
    phase: Phase, every_s: float, lasts_s: float, until_s: float, look_s: float = 0.5
) -> tuple[PhaseInterval, ...]:
    """What looks at even distances see of a phase that comes at even distances."""
    found = PhaseIntervals()
    for k in range(int(until_s / look_s)):
        at_s = k * look_s
        found.add(at_s, phase if at_s % every_s < lasts_s and at_s >= every_s else "forward")
    return found.all()


def saving(**fields: Any) -> History:
    return constant(job(rank(**fields)), seconds=65)


@pytest.mark.parametrize(
    ("every_s", "lasts_s", "expected"),
    [
        (20.0, 1.0, False),  # healthy
        (20.0, 2.0, False),
        (20.0, 7.0, True),
        (6.0, 2.0, True),
        (5.0, 0.5, False),
        (40.0, 20.0, False),  # seen but once
    ],
)
def test_saves_that_take_a_share_of_the_time(every_s: float, lasts_s: float, expected: bool) -> None:
    found = check_checkpoint(saving(intervals=intervals("checkpoint", every_s, lasts_s, 65.0)))
    assert (found is not None) is expected


def test_the_numbers_and_the_file_are_told() -> None:
    file = DataFile(path="/ckpt/last.pt", mount_point="/ckpt", fs_type="nfs4")
    seen = check_checkpoint(
        saving(
            intervals=intervals("checkpoint", 6.0, 2.0, 65.0), phase="checkpoint", written_bytes_per_s=4e6, file=file
        )
    )
    assert seen is not None
    assert seen.title == "Checkpoints stop rank 0 for 33 % of the time: every 6 s for about 2.0 s"
    assert "writes 4.0 MB/s while it saves" in seen.evidence
    assert "file open: /ckpt/last.pt on /ckpt (nfs4)" in seen.evidence


def test_when_it_saves_no_more_it_is_over() -> None:
    seen = constant(job(rank(intervals=intervals("checkpoint", 6.0, 2.0, 30.0))), seconds=60)
    assert check_checkpoint(seen) is None


def one(
    from_s: float, to_s: float, *, is_over: bool = True, before: int = 0, phase: Phase = "checkpoint"
) -> PhaseInterval:
    return PhaseInterval(
        phase=phase,
        from_s=from_s,
        to_s=to_s,
        looks=max(1, int(to_s - from_s)),
        looks_before=before,
        not_before_s=from_s,
        over_by_s=to_s if is_over else None,
    )


@pytest.mark.parametrize(
    ("usual_s", "lasts_s", "expected"),
    [
        (1.0, 29.0, False),
        (1.0, 31.0, True),
        (5.0, 45.0, False),
        (5.0, 51.0, True),
        (None, 500.0, False),
        (None, 601.0, True),
    ],
)
def test_a_save_that_does_not_come_to_its_end(usual_s: float | None, lasts_s: float, expected: bool) -> None:
    earlier = () if usual_s is None else (one(-5000.0, -5000.0 + usual_s),)
    running = one(60.0 - lasts_s, 60.0, is_over=False, before=100_000)
    seen = check_checkpoint(constant(job(rank(intervals=(*earlier, running))), seconds=60))
    assert (seen is not None) is expected
    if seen is not None and usual_s is not None:
        assert f"for {lasts_s:.0f} s, usually {usual_s:.1f} s" in seen.title


def compiling(found: tuple[PhaseInterval, ...], *, steps_per_s: float | None = 2.0, seconds: int = 60) -> History:
    def at(second: int) -> Any:
        progress = None if steps_per_s is None else Progress(step=1000 + int(second * steps_per_s))
        return derived(float(second), job(rank(intervals=found, progress=progress)))

    return history(seconds, at)


@pytest.mark.parametrize(
    ("every_s", "lasts_s", "steps_per_s", "expected"),
    [
        (2.0, 1.0, 2.0, True),
        (10.0, 3.0, 2.0, True),
        (10.0, 0.5, 2.0, False),
        (25.0, 10.0, 2.0, False),  # twice only: evaluation, the last batch
        (2.0, 1.0, 0.1, False),  # the first steps: shapes differ once
        (2.0, 1.0, None, False),  # nobody tells the steps: a minute of grace
    ],
)
def test_compiling_again_and_again(every_s: float, lasts_s: float, steps_per_s: float | None, expected: bool) -> None:
    seen = check_recompile(compiling(intervals("compile", every_s, lasts_s, 60.0), steps_per_s=steps_per_s))
    assert (seen is not None) is expected


def test_without_steps_a_minute_must_have_passed() -> None:
    found = intervals("compile", 3.0, 2.0, 120.0)
    assert check_recompile(compiling(found, steps_per_s=None, seconds=120)) is not None


@pytest.mark.parametrize(
    ("compiles_until", "steps_per_s", "expected"),
    [
        (60, 0.25, True),  # each step, one look like the other: a single spell
        (60, 0.05, False),  # three steps only
        (40, 0.5, True),
        (16, 0.5, False),  # eight steps at first, then 22 that do not
        (30, 10.0, False),  # the second step took long, then they are quick
    ],
)
def test_every_step_compiles(compiles_until: int, steps_per_s: float, expected: bool) -> None:
    def at(second: int) -> Any:
        is_compiling = second < compiles_until
        is_slow = steps_per_s > 1 and is_compiling
        progress = Progress(step=2 if is_slow else int(2 + (second if steps_per_s < 1 else second - 30) * steps_per_s))
        found = (one(0.0, float(compiles_until), phase="compile"),)
        return derived(
            float(second), job(rank(intervals=found, progress=progress, phase="compile" if is_compiling else "forward"))
        )

    assert (check_recompile(history(60, at)) is not None) is expected


def test_every_step_compiles_and_few_looks_show_something_else() -> None:
    found = tuple(one(start, start + 19.0, before=int(start), phase="compile") for start in (0.0, 20.0, 40.0))

    def at(second: int) -> Any:
        progress = Progress(step=10 * (1 + second // 6))
        phase = "other" if second % 20 == 19 else "compile"
        return derived(float(second), job(rank(intervals=found, progress=progress, phase=phase)))

    assert check_recompile(history(60, at)) is not None


def test_a_long_first_compilation_is_no_storm() -> None:
    assert check_recompile(compiling((one(0.0, 50.0, phase="compile"),))) is None


def test_the_compilers_own_word_counts_at_once() -> None:
    said = event("recompile-storm", text="torch._dynamo hit config.recompile_limit (8)", severity="warning")
    seen = check_recompile(constant(job(rank(), events=(said,)), seconds=2))
    assert seen is not None
    assert seen.log_line == said.text
