"""Every text that users of hwtop read, by source: pages of documentation, TOML records, help of commands, strings in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import tomli

from hwtop.cli import cli

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "hwtop"
_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_NOT_PROSE = frozenset({"style.md"})
"""It shows what to avoid."""
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
_TARGET = re.compile(r"\]\([^)\n]*\)")
"""Of a link."""
_MACHINE_KEYS = frozenset({"id", "literals", "expressions", "regex", "unless", "source", "words"})
"""Of TOML records: what hwtop searches for, and where it was found."""
_LABELLED = frozenset({"ui", "report"})
"""Packages in which a string of one word may be a label."""
_REGEX = re.compile(r"\(\?|\\[bdwsS]|\[\^|\.\*|\\\.")


class Text(NamedTuple):
    """Something that is read."""

    where: str
    words: str


def pages() -> Iterator[Text]:
    """README, changelog and documentation, line by line. What is generated is checked at its source."""
    for file in (*map(ROOT.joinpath, _PAGES), *sorted((ROOT / "docs").glob("*.md"))):
        if not file.exists() or file.name in _NOT_PROSE:
            continue
        text = file.read_text(encoding="utf-8")
        if text.startswith("<!-- Generated"):
            continue
        text = _GENERATED.sub(lambda block: "\n" * block[0].count("\n"), text)
        for number, line in enumerate(_TARGET.sub("]", text).splitlines(), 1):
            yield Text(f"{file.relative_to(ROOT)}:{number}", line)


def records() -> Iterator[Text]:
    """Titles, meanings, steps and whatever else the TOML records say."""
    for file in sorted(PACKAGE.rglob("*.toml")):
        if "demo" not in file.parts:
            yield from _values(str(file.relative_to(ROOT)), tomli.loads(file.read_text(encoding="utf-8")))


def _values(where: str, value: Any) -> Iterator[Text]:
    if isinstance(value, str):
        yield Text(where, value)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _values(f"{where}.{number}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _MACHINE_KEYS:
                yield from _values(f"{where}.{key}", item)


def help_texts() -> Iterator[Text]:
    """What `-h` prints of each command before and after its flags; the flags are strings in the code."""
    yield from _command_texts(cli, click.Context(cli, info_name="hwtop"))


def _command_texts(command: click.Command, ctx: click.Context) -> Iterator[Text]:
    for text in (command.help, command.epilog):
        if text:
            yield Text(f"{ctx.command_path} -h", text)
    if isinstance(command, click.Group):
        names = command.list_commands(ctx)
        for name in (*names, "live") if command is cli else names:
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from _command_texts(inner, click.Context(inner, info_name=name, parent=ctx))


def strings() -> Iterator[Text]:
    """Strings in the code that look like text: findings, messages, labels, settings, keys. Placeholders of f-strings are {}."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if "demo" not in file.parts:
            finder = _Strings(has_labels=bool(_LABELLED.intersection(file.relative_to(PACKAGE).parts)))
            finder.visit(ast.parse(file.read_text(encoding="utf-8")))
            yield from (Text(f"{file.relative_to(ROOT)}:{line}", text) for line, text in finder.found)


class _Strings(ast.NodeVisitor):
    """Collects them with their lines."""

    def __init__(self, *, has_labels: bool) -> None:
        """`has_labels`: a word alone counts as well: it may be a label."""
        self._has_labels = has_labels
        self.found: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        """A string alone is a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Patterns are not read by anybody."""
        function = node.func
        if not (
            isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"
        ):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """As one text."""
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        self._take(node.lineno, "".join(map(str, parts)))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A plain one."""
        if isinstance(node.value, str):
            self._take(node.lineno, node.value)

    def _take(self, line: int, text: str) -> None:
        is_text = self._has_labels or " " in text.strip() or text[:1].isupper()
        if is_text and not _REGEX.search(text):
            self.found.append((line, text))


SOURCES: dict[str, Callable[[], Iterator[Text]]] = {
    "pages": pages,
    "records": records,
    "help": help_texts,
    "code": strings,
}
