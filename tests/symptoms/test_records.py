"""Records: each symptom has one that is complete, and what it names exists."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from string import Formatter

import msgspec
import pytest
from msgspec.structs import replace

from hwtop.symptoms import records as module
from hwtop.symptoms.records import Group, Record, records, room_of
from hwtop.symptoms.rules import RULES, UNJUDGED
from hwtop.symptoms.text import filled, filled_all, is_general, named, placeholders

ALWAYS_KNOWN = {"pid"}
GPU_FACTS = {"gpu", "bus", "own_tool"}


def test_ids_groups_limits_and_orders_that_are_named_exist() -> None:
    assert list(mistakes()) == []


def test_what_is_wrong_with_a_record_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    known = records()
    name, sick = next((name, record) for name, record in known.items() if record.limits and record.colours)
    limit = next(iter(sick.limits))
    spoilt = replace(
        sick,
        order=next(record.order for other, record in known.items() if other != name),
        explained_by=("no-such",),
        check=None,
        log_line=False,
        unjudged=None,
        threshold="from {unknown} on",
        limits={limit: replace(sick.limits[limit], default=1e9, le=1.0)},
        colours=(replace(sick.colours[0], warning="no_such"),),
    )
    monkeypatch.setattr(module, "records", lambda: {**known, name: spoilt})
    found = list(mistakes())
    for words in (
        "is that of",
        "no symptom or group 'no-such'",
        "needs a check, log_line or unjudged",
        "'unknown' is no limit",
        f"{limit!r} is not in the threshold",
        "names no limit: 'no_such'",
        f"{name}.{limit}: the default is not in its range",
    ):
        assert [text for text in found if words in text], (words, found)


@pytest.mark.parametrize("symptom", records())
def test_a_record_says_what_to_do_and_what_would_disprove_it(symptom: str) -> None:
    record = records()[symptom]

    assert 2 <= len(record.plain_steps) <= 6
    assert record.verify and record.disproved_if
    assert record.meaning.endswith(".")


@pytest.mark.parametrize("symptom", [name for name, record in records().items() if record.check is not None])
def test_each_placeholder_of_a_text_is_a_fact_of_its_rule(symptom: str) -> None:
    record = records()[symptom]
    module = (record.check or "").partition(".")[0]
    source = inspect.getsource(sys.modules[f"hwtop.symptoms.{room_of(symptom)}.{module}"])
    if symptom == "loss-nan" or record.log_line:
        source += inspect.getsource(sys.modules["hwtop.symptoms.log"])
    returned = set(re.findall(r'"(\w+)":', source)) | ALWAYS_KNOWN | (GPU_FACTS if "gpu_facts(" in source else set())
    texts = [record.finding or record.title, *record.steps, record.verify, *record.escalate]

    assert {name for text in texts for name in placeholders(text)} <= returned


def test_every_symptom_has_a_rule_or_says_why_not() -> None:
    assert {rule.symptom for rule in RULES} | UNJUDGED.keys() == records().keys()


def test_no_symptom_has_two_rules() -> None:
    names = [rule.symptom for rule in RULES]

    assert len(names) == len(set(names))


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="severty"):
        msgspec.convert({"category": "stability", "severty": "info"}, Record)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at {temp:.0f} °C", "at 89 °C"),
        ("over {share:pct}", "over 15.5 %"),
        ("{{print}} {temp:g}", "{print} 89.2"),
        ("only {unknown}", None),
        ("{nothing} at all", None),
        (("{unknown} first", "{temp:g} then"), "89.2 then"),
        ("{is_here:if}here", "here"),
        ("{is_gone:if}gone", None),
        ("{zero} is a fact", "0 is a fact"),
    ],
)
def test_a_text_is_filled_with_facts(text: str | tuple[str, ...], expected: str | None) -> None:
    facts = {"temp": 89.2, "share": 0.155, "nothing": None, "is_here": True, "is_gone": False, "zero": 0}

    assert filled(text, facts) == expected


def test_a_step_without_its_fact_is_left_out() -> None:
    assert filled_all(["a {one}", "b {two}", "c"], {"one": 1}) == ("a 1", "c")


def test_without_a_job_capital_words_stand_for_the_facts() -> None:
    assert named("{is_gone:if}kill -CONT {pid}   # {{x}}") == "kill -CONT PID   # {x}"
    assert not is_general("{own_tool}")


_FROM_THE_MACHINE = frozenset({"folder", "host", "log", "mount", "path", "port"})
"""Facts that somebody else may have chosen: names of files and hosts."""


@pytest.mark.parametrize("symptom", sorted(records()))
def test_what_the_machine_names_is_quoted_in_commands(symptom: str) -> None:
    for step in records()[symptom].steps:
        for text in (step,) if isinstance(step, str) else step:
            unquoted = {
                name for _, name, form, _ in Formatter().parse(text) if form not in ("sh", "if")
            } & _FROM_THE_MACHINE
            assert not unquoted, text


def test_a_file_named_like_a_command_stays_one_word() -> None:
    step = filled("tail -n 50 {log:sh}   # what it did last", {"log": "/tmp/rank1;touch ~PWNED.log"})
    assert step == "tail -n 50 '/tmp/rank1;touch ~PWNED.log'   # what it did last"


def mistakes() -> Iterator[str]:
    """What is wrong with the records, in words: ids, groups, placeholders and limits that do not exist."""
    groups = set(Group.__args__)  # type: ignore[attr-defined]  # the names of a Literal
    orders: dict[int, str] = {}
    for symptom, record in module.records().items():
        if (other := orders.setdefault(record.order, symptom)) != symptom:
            yield f"{symptom}: order {record.order} is that of {other}"
        for name in (*record.explained_by, *record.explains):
            if name not in module.records() and name not in groups:
                yield f"{symptom}: no symptom or group {name!r}"
        if not (record.check or record.log_line or record.unjudged):
            yield f"{symptom}: needs a check, log_line or unjudged"
        wanted = placeholders(record.threshold or "")
        for name in sorted(wanted ^ set(record.limits)):
            yield f"{symptom}: {name!r} is {'no limit' if name in wanted else 'not in the threshold'}"
        for colour in record.colours:
            for limit in (colour.warning, colour.critical):
                if limit is not None and limit not in record.limits:
                    yield f"{symptom}: the colour of {colour.field} names no limit: {limit!r}"
        for name, known in record.limits.items():
            if not known.allows(known.default):
                yield f"{symptom}.{name}: the default is not in its range"
