"""Every field can be read, written, asked for and found in the JSON; a number is marked where its rule raises."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

import hwtop.fields
from hwtop.fields import host, nic, units
from hwtop.fields.field import Field, Subject
from hwtop.fields.levels import built_in, levels
from hwtop.fields.registry import FIELDS, SUBJECTS
from hwtop.model.frame import Frame
from hwtop.report.frame.json_report import snapshot
from hwtop.report.json_text import plain
from hwtop.symptoms.records import records
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import settable, with_thresholds
from hwtop.ui.panels.gpu.columns import columns as gpu_columns
from hwtop.ui.panels.gpu.view import rows as gpu_rows
from hwtop.ui.panels.host import tables as host_tables
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from tests import fleets, frames
from tests.recording import replay

PANELS = Path(__file__).parents[2] / "hwtop" / "ui" / "panels"
REGISTERED_TABLES = ("ranks/table.py", "processes/table.py", "gpu/columns.py", "host/tables.py")
NUMBERS = (0, 0.0, 1, 0.04, 99.97, 1e6, 1e15, -3.0)


def known_frames() -> Iterator[Frame]:
    yield from (frames.healthy(), frames.hang(), frames.dead_rank(), frames.gpu_lost())
    yield replay("hang")[-1]
    yield fleets.sick(41)


def of_kind(kind: str) -> list[Field[Any]]:
    return [field for field in FIELDS.values() if (field.kind == "word") == (kind == "word")]


def test_each_declared_field_is_listed_in_its_subject() -> None:
    names = (name for _, name, _ in pkgutil.iter_modules(hwtop.fields.__path__, "hwtop.fields."))
    modules = [importlib.import_module(name) for name in names]
    declared = {each.id: name for module in modules for name, each in vars(module).items() if isinstance(each, Field)}
    assert {id_: name for id_, name in declared.items() if id_ not in FIELDS} == {}, "add it to `fields` of its Subject"


def test_ids_are_unique_and_begin_with_their_subject() -> None:
    every = [field for subject in SUBJECTS for field in subject.fields]
    assert len({field.id for field in every}) == len(every)
    for subject in SUBJECTS:
        names = [name for field in subject.fields if field.name for name in (field.name, *field.aliases)]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{subject.name}: two fields are named {', '.join(twice)}"
    assert {field.id.partition(".")[0] for field in every} == {
        *(subject.name for subject in SUBJECTS if subject.name != "host"),
        *("cpu", "memory", "cgroup", "network"),
    }


@pytest.mark.parametrize("field", of_kind("number"), ids=lambda field: field.id)
def test_every_number_is_written_whatever_it_is(field: Field[Any]) -> None:
    assert field.written(None) == units.UNKNOWN
    for value in NUMBERS:
        text = field.written(value)
        assert text
        assert text != units.UNKNOWN
        assert len(text) <= 26
    assert field.label or field.name, "it has a title"
    assert field.about


@pytest.mark.parametrize("field", of_kind("word"), ids=lambda field: field.id)
def test_every_word_is_written(field: Field[Any]) -> None:
    assert (field.written(None), field.written(""), field.written("abc")) == (units.UNKNOWN, units.UNKNOWN, "abc")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_field_of_every_row_can_be_read_asked_and_coloured(subject: Subject[Any]) -> None:
    seen = 0
    for frame in known_frames():
        for row in subject.rows(frame):
            seen += 1
            for field in subject.fields:
                value = field.value(row)
                assert value is None or isinstance(value, str if field.kind == "word" else (int, float)), field.id
                assert all(each is None or isinstance(each, int | float | str) for each in field.asked(row))
                assert cells.number(field, row, built_in()).text.lstrip("▲✖▼") == field.text(row)
    assert seen


@pytest.mark.parametrize(
    "subject", [each for each in SUBJECTS if each.name != "node"], ids=lambda subject: subject.name
)
def test_json_names_lead_to_the_same_values(subject: Subject[Any]) -> None:
    found = 0
    for frame in known_frames():
        printed = plain(snapshot(frame))
        objects = at(printed, subject.json) if subject.json else [printed]
        rows = list(subject.rows(frame))
        assert len(objects or ()) == len(rows)
        for row, item in zip(rows, objects or (), strict=True):
            for field in subject.fields:
                if field.json and field.value(row) is not None:
                    found += 1
                    assert at(item, field.json) == plain(field.value(row)), field.id
    assert found


def at(value: Any, path: str) -> Any:
    for name in path.split("."):
        assert value is None or name in value, (
            f"a field says that it is at {path!r}, but the JSON has no such key: correct `json` of the field, or add the key "
            "(of a rank: a field in model/rank.py; of the job: report/frame/job_object.py; else: report/frame/json_report.py)"
        )
        value = None if value is None else value[name]
    return value


def test_a_number_is_marked_where_its_rule_raises_a_warning() -> None:
    level = built_in()["network.tcp_retransmit_pct"]
    rule = next(rule for rule in RULES if rule.symptom == "network-retransmits")
    assert level.warning == settable(rule)["warning_pct"]
    assert [level.alarm(value) for value in (None, level.warning - 0.01, level.warning)] == [None, None, "warning"]
    assert level.source == "network-retransmits"


def test_thresholds_of_the_person_move_the_colours() -> None:
    base = frames.healthy().derived
    assert base.network is not None
    derived = msgspec.structs.replace(base, network=msgspec.structs.replace(base.network, tcp_retransmit_pct=2.0))
    mine = levels(with_thresholds(RULES, {"network-retransmits": {"warning_pct": 5.0}}))
    assert cells.number(host.RETRANSMITS, derived, built_in()).text == "▲2.0%"
    assert cells.number(host.RETRANSMITS, derived, mine).text == "2.0%"


def test_every_level_is_of_a_field_and_none_has_two() -> None:
    assert built_in().keys() <= FIELDS.keys()
    for name in built_in():
        assert FIELDS[name].own_level is None, f"{name} has limits of its own beside those of a rule"


def test_each_colour_of_a_record_is_of_one_field() -> None:
    named = [colour.field for record in records().values() for colour in record.colours]
    assert set(named) <= FIELDS.keys()
    assert len(set(named)) == len(named), "one symptom colours a number"
    assert set(named) == built_in().keys()


def test_shares_of_a_rule_become_percent() -> None:
    assert built_in()[nic.USE.id].limits == (90.0,)


def test_every_column_of_the_tables_is_in_the_registry() -> None:
    for name in REGISTERED_TABLES:
        built = [
            node
            for node in ast.walk(ast.parse((PANELS / name).read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Column"
        ]
        titles = [cast("ast.Constant", node.args[0]).value for node in built]
        assert not any(titles), f"{name}: {titles}: a column without a field"
    view = View(frame=frames.healthy(), page="gpu")
    shown = gpu_columns(gpu_rows(view, 10), view.levels, ("util", 16))
    assert {column.field.partition(":")[0] for column in shown} - {""} <= FIELDS.keys()
    assert host_tables.disks(view, 100).lines


def test_no_panel_has_a_threshold_of_its_own() -> None:
    """A colour comes from a level: nothing in panels compares a number with a constant to choose a role."""
    for file in PANELS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.IfExp) and _is_compared(node.test) and _is_role(node):
                pytest.fail(f"{file.name}:{node.lineno}: {ast.unparse(node)}")


def _is_compared(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and any(
        isinstance(each, ast.Constant) and isinstance(each.value, int | float) and not isinstance(each.value, bool)
        for each in test.comparators
        if not (isinstance(each, ast.Constant) and each.value in (0, 1))
    )


def _is_role(node: ast.IfExp) -> bool:
    roles = {"good", "warn", "bad"}
    return any(isinstance(each, ast.Constant) and each.value in roles for each in (node.body, node.orelse))
