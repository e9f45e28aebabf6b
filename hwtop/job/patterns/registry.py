"""Registry: the log patterns that come with hwtop and those of the user, read from TOML.

A pattern file holds any number of

    [[pattern]]
    id = "disk-full"              # the symptom that it raises
    literals = ["no space left"]  # lower case; a line without any of them is never looked at closer
    regex = 'No space left on device'   # optional, ignores case; without it a literal is enough
    unless = 'shm'                # optional: lines that look alike but are not
    severity = "critical"         # critical, warning or info
    role = "root"                 # root, cascade, confirmation or context
    explanation = "..."           # one sentence for a person
    source = "..."                # where the text comes from
    playbook = ["..."]            # optional: next steps for this very line; those of the symptom (`symptoms/playbook.py`)
                                  # follow them
    title = "..."                 # optional: the heading, for an id that is no symptom of hwtop

Named groups of the regex go into the event; `rank` and `xid` are numbers there. Of the patterns with one id the first
that matches a line counts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any

import msgspec
from msgspec import Struct

from hwtop.errors import UsageError
from hwtop.model.log import Role, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class _Entry(Struct, forbid_unknown_fields=True):
    id: str
    literals: list[str]
    severity: Severity
    role: Role
    explanation: str
    source: str = ""
    regex: str | None = None
    unless: str | None = None
    playbook: list[str] = []
    title: str = ""


class _Xid(Struct, forbid_unknown_fields=True):
    code: int
    meaning: str
    severity: Severity
    role: Role = "root"


class _File(Struct, forbid_unknown_fields=True):
    pattern: list[_Entry] = []
    xid: list[_Xid] = []


class Pattern(Struct, frozen=True, kw_only=True):
    """One compiled pattern."""

    id: str
    literals: tuple[str, ...]
    regex: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    severity: Severity
    role: Role
    explanation: str
    source: str
    playbook: tuple[str, ...] = ()
    title: str = ""


class XidMeaning(Struct, frozen=True):
    """What NVIDIA's catalogue says of one Xid code."""

    meaning: str
    severity: Severity
    role: Role


class Registry(Struct, frozen=True):
    """All patterns, in the order in which they are tried, and the table of Xid codes."""

    patterns: tuple[Pattern, ...]
    xids: dict[int, XidMeaning]

    def literals(self) -> tuple[str, ...]:
        """Every literal once: a line without any of them cannot match."""
        return tuple(dict.fromkeys(literal for pattern in self.patterns for literal in pattern.literals))


def parse_file(text: str, name: str) -> Registry:
    """The patterns of one file.

    Raises:
        UsageError: not TOML, an unknown key or value, a regex that does not compile; the message names file and pattern.
    """
    try:
        data: dict[str, Any] = tomllib.loads(text)
        file = msgspec.convert(data, _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{name}: {error}; see `hwtop.job.patterns.registry` for the format") from error
    patterns = tuple(_compile(entry, name) for entry in file.pattern)
    xids = {entry.code: XidMeaning(entry.meaning, entry.severity, entry.role) for entry in file.xid}
    return Registry(patterns, xids)


def merge(parts: Iterable[Registry]) -> Registry:
    """One registry of many; earlier ones are tried first."""
    patterns: list[Pattern] = []
    xids: dict[int, XidMeaning] = {}
    for part in parts:
        patterns.extend(part.patterns)
        xids = {**part.xids, **xids}
    return Registry(tuple(patterns), xids)


@lru_cache(maxsize=1)
def builtin() -> Registry:
    """The patterns that come with hwtop."""
    files = sorted(
        (file for file in resources.files(__package__ or "").iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    return merge(parse_file(file.read_text(encoding="utf-8"), file.name) for file in files)


def _compile(entry: _Entry, name: str) -> Pattern:
    if not entry.literals or any(literal != literal.lower() or not literal for literal in entry.literals):
        raise UsageError(f'{name}: pattern "{entry.id}": literals must be given and in lower case')
    try:
        regex = None if entry.regex is None else re.compile(entry.regex, re.IGNORECASE)
        unless = None if entry.unless is None else re.compile(entry.unless, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f'{name}: pattern "{entry.id}": bad regex: {error}') from error
    return Pattern(
        id=entry.id,
        literals=tuple(entry.literals),
        regex=regex,
        unless=unless,
        severity=entry.severity,
        role=entry.role,
        explanation=entry.explanation,
        source=entry.source,
        playbook=tuple(entry.playbook),
        title=entry.title,
    )
