"""`hwtop symptoms` and `hwtop explain`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.errors import UsageError
from hwtop.symptoms.records import records


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_all_symptoms_are_listed_with_their_thresholds() -> None:
    reported = printed("symptoms")

    assert all(f"  {name} " in reported for name in records())
    assert "/dev/shm over 90 %" in reported


def test_each_symptom_is_an_object_for_scripts() -> None:
    rows = [json.loads(line) for line in printed("symptoms", "--json").splitlines()]

    assert [row["symptom"] for row in rows] == list(records())
    assert all(row["steps"] and row["refuted_by"] for row in rows)


def test_one_symptom_is_explained() -> None:
    reported = printed("explain", "shm-nearly-full")

    parts: Sequence[str] = ("/dev/shm over 90 %", "What to do", "--shm-size=16g", "Verify", "Disproved if")
    assert all(part in reported for part in parts)


def test_a_wrong_name_is_answered_with_near_ones() -> None:
    with pytest.raises(UsageError, match="did you mean 'loss-spike'"):
        CliRunner().invoke(cli, ["explain", "loss-spikes"], catch_exceptions=False, standalone_mode=False)
