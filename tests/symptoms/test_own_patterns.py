"""A user's pattern with an id that hwtop does not know is shown like any other symptom."""

from __future__ import annotations

from hwtop.collectors.logs.user_patterns import KnownPatterns
from hwtop.job.patterns.registry import builtin, merge, parse_file
from hwtop.symptoms.own_patterns import own_rules, refused_ids
from hwtop.symptoms.rules import RULES
from tests.symptoms.derived_states import constant, event, job, rank


def own(name: str) -> KnownPatterns:
    text = (
        f'[[pattern]]\nid = "{name}"\nliterals = ["quota of"]\nseverity = "warning"\nrole = "root"\n'
        'title = "Quota reached"\nexplanation = "Used up."\nplaybook = ["quota -s"]\n'
    )
    return KnownPatterns(merge([parse_file(text, "/home/a/own.toml"), builtin()]))


def test_only_ids_that_are_new_get_a_rule() -> None:
    assert [rule.symptom for rule in own_rules(own("quota-reached").registry, RULES)] == ["quota-reached"]
    assert own_rules(own("disk-full").registry, RULES) == ()
    assert own_rules(builtin(), RULES) == ()


def test_an_id_that_no_log_line_can_raise_is_told() -> None:
    (problem,) = refused_ids(own("straggler-rank").registry, RULES)
    assert "straggler-rank" in problem
    assert refused_ids(own("quota-reached").registry, RULES) == ()
    assert refused_ids(own("disk-full").registry, RULES) == ()


def test_its_rule_tells_title_and_steps_of_the_pattern() -> None:
    (rule,) = own_rules(own("quota-reached").registry, RULES)
    reported = event("quota-reached", severity="warning", title="Quota reached", playbook=("quota -s",))
    seen = rule.look(constant(job(rank(), events=(reported,))))
    assert seen is not None
    assert (seen.severity, seen.title, seen.next_steps) == ("warning", "Quota reached", ("quota -s",))
    assert rule.look(constant(job(rank(), events=()))) is None
