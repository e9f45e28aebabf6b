"""Playbooks: what each symptom means, what a person can do now, and what would prove it wrong. Data in TOML, one table a symptom:

    [input-bound-cpu]
    title = "..."            a few words, without a number
    category = "..."         performance, correctness or stability
    meaning = "..."          what is going on
    steps = ["...", ...]     2 to 5 things to do now, most telling first; capital words stand for values of the job
    test = "..."             the quick test that would show it to be something else
    refuted_by = "..."       what one would see then, or sees already
    escalate = ["..."]       deeper tools with their commands; may be left out

Rules put steps with the job's own values before those here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from hwtop.model.symptom import Category

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Playbook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One symptom, for people."""

    title: str
    category: Category
    meaning: str
    steps: tuple[str, ...]
    test: str
    refuted_by: str
    escalate: tuple[str, ...] = ()


@cache
def playbooks() -> Mapping[str, Playbook]:
    """Symptom -> playbook, in the order of the files."""
    found: dict[str, Playbook] = {}
    for name in sorted(file.name for file in resources.files(__package__ or "").iterdir()):
        if name.endswith(".toml"):
            text = (resources.files(__package__ or "") / name).read_text(encoding="utf-8")
            found |= msgspec.convert(tomllib.loads(text), dict[str, Playbook])
    return found
