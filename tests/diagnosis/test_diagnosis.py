"""`hwtop diagnose` on real torch jobs: each planted fault is the card on top, and healthy jobs raise nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from tests.diagnosis.case import Case, Watched, why_wrong
from tests.diagnosis.cases import CHORES, FAULTS, HANGS, HEALTHY, QUIET

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]  # the first test waits for all jobs

Of = Callable[[Case], Watched]


def named(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def case_of(name: str) -> Case:
    return next(case for case in (*HANGS, *QUIET) if case.name == name)


def said(report: dict[str, Any]) -> list[tuple[str, str, list[int], str]]:
    """The findings of a report."""
    return [(each["symptom"], each["severity"], each["ranks"], each["title"]) for each in report["findings"]]


def replayed(recording: Path) -> list[tuple[str, str, list[int], str]]:
    """The findings of `hwtop replay` at its end."""
    result = CliRunner().invoke(cli, ["replay", str(recording), "--diagnose", "--json"])
    assert result.exit_code in (0, 1), result.output
    return said(json.loads(result.stdout))


@named(FAULTS)
def test_a_planted_fault_is_the_card_on_top(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named(CHORES)
def test_a_chore_that_takes_too_long_is_the_card_on_top(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named(HANGS)
def test_the_cause_of_a_hang_is_the_only_serious_card(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen
    assert seen.serious == [case.symptom], "one root, the others fold"


@named(QUIET)
def test_a_healthy_job_raises_nothing_at_all(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert (seen.findings, seen.code) == ([], 0), seen
    assert all(rank["phase"] is not None for rank in seen.report["job"]["ranks"])


@named(HEALTHY)
def test_a_healthy_job_whose_ranks_wait_is_no_hang(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert why_wrong(case, seen) is None, seen


@named((case_of("healthy_chores-python"),))
def test_a_healthy_job_was_seen_saving(case: Case, watched: Of) -> None:
    ranks = watched(case).report["job"]["ranks"]
    assert "checkpoint" in {share["phase"] for rank in ranks for share in rank["phase_shares"]}


@named((case_of("healthy_sparse-torchrun"),))
def test_steps_are_read_from_sparse_logs(case: Case, watched: Of) -> None:
    ranks = watched(case).report["job"]["ranks"]
    assert [rank["rank"] for rank in ranks] == [0, 1]
    assert any(rank["step"] is not None for rank in ranks)


@named((case_of("hang_missing-torchrun"),))
def test_the_end_of_the_wait_is_counted_down(case: Case, watched: Of) -> None:
    evidence = " ".join(watched(case).findings[0]["evidence"])
    assert "time left to the timeout: at most" in evidence
    assert "gloo timeout 30 min" in evidence


@named((*FAULTS, *CHORES, *HANGS, *QUIET, *HEALTHY))
def test_a_replay_finds_what_was_found_live(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert replayed(seen.recording) == said(seen.report)


@pytest.mark.parametrize(
    ("case", "states"),
    [
        (case_of("hang_missing-torchrun"), ["stuck", "stuck", "stuck"]),
        (case_of("stopped-torchrun"), ["stuck", "stopped"]),
        (case_of("hang_world-alone"), ["starting"]),
    ],
)
def test_the_states_of_hung_ranks(case: Case, states: list[str], watched: Of) -> None:
    assert [rank["state"] for rank in watched(case).report["job"]["ranks"]] == states


@named((FAULTS[-1],))
def test_a_killed_rank_ends_the_job(case: Case, watched: Of) -> None:
    seen = watched(case)
    assert "SIGKILL" in seen.findings[0]["title"]
    assert seen.report["job"]["has_ended"]
