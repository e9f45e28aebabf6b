from __future__ import annotations

import pytest

from hwtop.job.launch.slurm_template import as_glob, has_specifiers

ENV = {"SLURM_JOB_ID": "123", "SLURM_JOB_NAME": "pre-train", "SLURM_ARRAY_JOB_ID": "120", "SLURM_ARRAY_TASK_ID": "7"}


@pytest.mark.parametrize(
    ("template", "glob"),
    [
        ("slurm-%j.out", "slurm-123.out"),
        ("/logs/%x/%A_%a.log", "/logs/pre-train/120_7.log"),
        ("rank-%t_node-%n_%N.%s", "rank-*_node-*_*.*"),
        ("%8j-%3a.out", "00000123-007.out"),
        ("100%%-%j", "100%-123"),
        ("%99999j", "0000000123"),
    ],
)
def test_templates(template: str, glob: str) -> None:
    assert has_specifiers(template)
    assert as_glob(template, ENV) == glob


def test_what_is_not_known_is_any() -> None:
    assert as_glob("%x-%j_%a.out", {}) == "*-*_*.out"


def test_a_lone_percent_is_a_name() -> None:
    assert not has_specifiers("/logs/50% done.log")
