"""Playbooks: each symptom that can be raised has one, and it helps."""

from __future__ import annotations

import pytest

from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Rule
from hwtop.symptoms.rules import RULES, UNJUDGED


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.symptom)
def test_every_rule_has_a_playbook_of_its_own_family(rule: Rule) -> None:
    assert playbooks()[rule.symptom].category == rule.category


@pytest.mark.parametrize("symptom", playbooks())
def test_a_playbook_says_what_to_do_and_what_would_refute_it(symptom: str) -> None:
    book = playbooks()[symptom]

    assert 2 <= len(book.steps) <= 5
    assert book.test and book.refuted_by
    assert book.meaning.endswith(".")


def test_every_symptom_is_judged_or_says_why_not() -> None:
    assert {rule.symptom for rule in RULES} | UNJUDGED.keys() == playbooks().keys()


def test_no_symptom_is_judged_twice() -> None:
    names = [rule.symptom for rule in RULES]

    assert len(names) == len(set(names))
