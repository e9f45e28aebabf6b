"""The numbers that the judging code decides by, and what stands about them in the code. Only read, never imported.

A constant of a module is one where its value is written in numbers. What bounds only what is kept, read or shown has one of these words
in its name, and is none; nor is the size of a unit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hwtop.symptoms.records import records
from tests.docs.user_texts import ROOT

PLACES = ("model/evidence.py", "symptoms", "job/hang", "job/stacks", "job/progress", "derive", "preflight")
"""Of hwtop/, where it is judged."""
_BOUND = {"KEPT", "READ", "SHOWN", "UNIT", "UNITS"}
_SOURCE = re.compile(r"(?P<meaning>.*?)\s*(?P<source>Engineering defaults?|Source: .+?)\.", re.DOTALL)


@dataclass(frozen=True)
class Threshold:
    """A number, or some that are explained together."""

    place: str
    """File of the constants, or id of the symptom."""
    values: tuple[str, ...]
    """`NAME = VALUE`."""
    meaning: str
    source: str


def constants(folder: Path = ROOT / "hwtop") -> Iterator[Threshold]:
    """Those of the code: what stands above one docstring shares it."""
    for name in PLACES:
        for file in sorted((folder / name).rglob("*.py")) or filter(Path.is_file, [folder / name]):
            for values, text in _explained(ast.parse(file.read_text(encoding="utf-8")).body):
                yield Threshold(str(file.relative_to(folder.parent)), values, *divided(text))


def limits() -> Iterator[Threshold]:
    """Those of the records, which users can set."""
    for symptom, record in sorted(records().items()):
        for name, limit in record.limits.items():
            unit = "" if limit.unit == "share" else limit.unit
            yield Threshold(symptom, (f"{name} = {limit.default:g} {unit}".strip(),), limit.about, limit.source)


def divided(text: str) -> tuple[str, str]:
    """(meaning, source) of a docstring, whose last sentence is the source; each empty where it is missing."""
    found = _SOURCE.fullmatch(" ".join(text.split()))
    if found is None:
        return text, ""
    return found["meaning"], found["source"].removeprefix("Source: ").replace("Engineering", "engineering")


def _explained(body: list[ast.stmt]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is written, and the docstring below it; an empty one where something else is."""
    values: tuple[str, ...] = ()
    for statement in body:
        written = _written(statement)
        if written is not None:
            values += (written,)
        elif values:
            yield values, _text(statement)
            values = ()
    if values:
        yield values, ""


def _written(statement: ast.stmt) -> str | None:
    match statement:
        case (
            ast.Assign(targets=[target], value=ast.expr() as value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            names = ast.unparse(target).strip("()")
            if names.isupper() and not _BOUND & {*re.findall("[A-Z]+", names)} and _is_number(value):
                return f"{names} = {ast.unparse(value).strip('()')}"
    return None


def _is_number(value: ast.expr) -> bool:
    """Made of numbers alone, at least one of them written here."""
    match value:
        case ast.Dict(values=values) | ast.Tuple(elts=values):
            return bool(values) and all(map(_is_number, values))
        case ast.BinOp(left=left, right=right):
            return _is_number(left) or _is_number(right)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.Constant(value=number):
            return type(number) in (int, float)
    return False


def _text(statement: ast.stmt) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""
