"""Short forms: they fit, the verdict is whole, and what was cut is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hwtop import cli
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.report.fit import BRIEF_BYTES, LEAST_BYTES, Section, fitted
from hwtop.report.frame import brief, markdown, text
from hwtop.report.job.stacks import ProcessStacks, StacksReport, StacksTarget
from hwtop.report.job.stacks_text import stacks_text
from hwtop.symptoms import summary
from tests import frames
from tests.parts import replace
from tests.recording import replay

LIMITS = (1_000, 2_000, BRIEF_BYTES)


def large() -> Frame:
    """512 ranks, one of them elsewhere, and many findings."""
    frame = replay("hang")[-1]
    job = frame.derived.job
    assert job is not None
    ranks = tuple(replace(job.ranks[5 if number == 77 else 0], rank=number, pid=9000 + number) for number in range(512))
    findings = tuple(replace(frame.findings[0], symptom=f"made-up-{number}") for number in range(60))
    derived = replace(frame.derived, job=replace(job, ranks=ranks, world_size=512))
    return replace(frame, derived=derived, findings=(*frame.findings, *findings))


FRAMES: dict[str, Callable[[], Frame]] = {
    "healthy": frames.healthy,
    "hang": frames.hang,
    "large": large,
    "picker": frames.picker,
    "recorded": lambda: replay("oom")[-1],
}
FORMS: dict[str, Callable[[Frame, int], str]] = {
    "brief": brief.brief,
    "text": lambda frame, most: markdown.diagnosis(frame, markdown=False, most_bytes=most),
    "markdown": lambda frame, most: markdown.diagnosis(frame, markdown=True, most_bytes=most),
    "snapshot": lambda frame, most: text.machine(frame, is_brief=True, most_bytes=most),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FRAMES)
def test_every_form_fits_with_its_verdict_whole(name: str, form: str) -> None:
    frame = FRAMES[name]()
    for limit in LIMITS:
        found = FORMS[form](frame, limit)
        assert len(found.encode()) <= limit
        assert visible(frame.verdict.text) in found


def test_the_brief_of_a_hang_names_rank_cause_and_commands_and_groups_equal_ranks() -> None:
    frame = large()
    found = brief.brief(frame, BRIEF_BYTES)
    lines = found.splitlines()
    assert lines[0] == frame.verdict.text
    assert lines[1].startswith(f"critical {frame.findings[0].symptom} (")
    assert f"- {frame.findings[0].evidence[0]}" in lines
    assert any(line.startswith("[observe] hwtop stacks ") for line in lines)
    assert any(line.startswith("ranks 0-76,78-511: ") for line in lines)
    assert any(line.startswith("rank 77: ") for line in lines)


def test_what_was_cut_is_named_with_the_command_that_prints_it() -> None:
    frame = large()
    job = frame.derived.job
    assert job is not None
    last = brief.brief(frame, 2_000).splitlines()[-1]
    assert last.startswith("Cut: ")
    assert "lines of findings" in last
    assert last.endswith(f"`hwtop diagnose {job.target_pid}` prints all")


def test_nothing_is_cut_that_fits() -> None:
    sections = [Section("a", ["1", "2"]), Section("b", ["3"])]
    assert (
        fitted(["head"], sections, LEAST_BYTES, "all") == fitted(["head"], sections, None, "all") == "head\n1\n2\n3\n"
    )


def test_of_the_less_important_nothing_is_shown_once_the_more_important_was_cut() -> None:
    sections = [Section("a", ["1", "x" * 600, "2"]), Section("b", ["3"])]
    assert fitted(["head"], sections, LEAST_BYTES, "all") == "head\n1\nCut: 2 of 3 lines of a, b; `all` prints all\n"


def test_a_verdict_longer_than_the_limit_is_whole() -> None:
    assert fitted(["x" * 900], [Section("a", ["1"])], LEAST_BYTES, "all").startswith("x" * 900)


def test_one_line_is_one_line_for_a_chat() -> None:
    frame = large()
    assert summary.one_line(frame).startswith("critical: Rank 5 is missing from the collective")
    for line in (summary.one_line(frame), summary.cut("a\nb\x1b[31m\u202e" + "c" * 1_000_000)):
        assert line.isprintable() and len(line) <= 280


def test_stacks_that_fit_begin_with_the_ranks_that_differ() -> None:
    job = frames.hang().derived.job
    assert job is not None
    ranks = tuple(
        ProcessStacks(rank=rank.rank, pid=rank.pid, phase=None, is_waiting=None, threads=()) for rank in job.ranks
    )
    report = StacksReport(
        target=StacksTarget(pid=7, root_pid=7),
        sentence="rank 5 differs",
        ranks=ranks,
        groups=job.stacks.groups,
        workers=(),
        worker_groups=(),
        blind=(),
    )
    found = stacks_text(report, LEAST_BYTES)
    assert len(found.encode()) <= LEAST_BYTES
    assert found.startswith("rank 5 differs\n")
    assert "\nrank 5  " in found
    assert "`hwtop stacks 7` prints all" in found


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "train.log"
    error = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    path.write_text("".join(f"[rank{rank}]: {error} \x1b[2J\u202e{'A' * 1_000_000}\n" for rank in range(3)) * 3)
    return str(path)


def test_a_scan_of_hostile_lines_fits(log: str) -> None:
    done = CliRunner().invoke(cli.cli, ["scan", log, "--max-bytes", "900"])
    assert done.exit_code == 1
    assert len(done.stdout.encode()) <= 900
    first = done.stdout.splitlines()[0]
    assert first.endswith(f"earliest root: cuda-oom at {log}:1")
    assert all(line.isprintable() for line in done.stdout.splitlines())
    assert CliRunner().invoke(cli.cli, ["scan", log, "--oneline"]).stdout == f"{first}\n"


@pytest.mark.parametrize("flag", ["--brief", "--oneline", "--max-bytes=900"])
def test_json_is_never_cut(flag: str, log: str) -> None:
    done = CliRunner().invoke(cli.cli, ["scan", log, "--json", flag])
    assert "--json prints all" in str(done.exception)
