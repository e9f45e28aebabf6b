"""Registry: the log patterns that come with hwtop and those of the user, read from TOML.

A pattern file holds any number of

    [[pattern]]
    id = "disk-full"              # the symptom that it raises
    literals = ["no space left"]  # lower case; a line without any of them is never looked at closer
    expressions = ['loss.{0,9}nan']     # optional: count like literals, where a word alone stands in too many healthy lines;
                                  # in Hyperscan's dialect (no look-around), need a regex to decide
    regex = 'No space left on device'   # optional, ignores case; without it a literal is enough
    unless = 'shm'                # optional: lines that look alike but are not
    severity = "critical"         # critical, warning or info
    role = "root"                 # root, cascade, confirmation or context
    explanation = "..."           # one sentence for a person
    source = "..."                # where the text comes from
    playbook = ["..."]            # optional: next steps for this very line; those of the symptom (`symptoms/playbook.py`)
                                  # follow them
    title = "..."                 # optional: the heading, for an id that is no symptom of hwtop

The meaning of Xid codes is a table of its own, one entry a code:

    [[xid]]
    code = 31
    meaning = "GPU memory page fault"
    severity = "warning"
    fatal_severity = "critical"   # optional: where the line says "Fatal"
    role = "root"                 # optional
    blame = "application"         # optional: application, hardware or driver, whichever to look at first
    action = "..."                # optional: what to do about it

Named groups of the regex go into the event; `rank` and `xid` are numbers there. Of the patterns with one id the first
that matches a line counts. A person's own regexes see the first LONGEST_OWN_CHARS characters of a line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

import msgspec
import tomli
from msgspec import Struct

from hwtop.errors import UsageError
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Role, Severity

Blame = Literal["application", "hardware", "driver", "unknown"]
"""Who is to be looked at first."""

_FATAL = lazy_regex(r"\bFatal\b")
LONGEST_OWN_CHARS = 2_048
"""Of a line, for a regex that nobody has measured: where its time grows with the square of the length, this bounds it
(engineering default)."""
_ID = lazy_regex(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_HELP = "`hwtop patterns -h` shows the format"


class _Entry(Struct, forbid_unknown_fields=True, kw_only=True):
    id: str
    literals: list[str] = []
    expressions: list[str] = []
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
    fatal_severity: Severity | None = None
    role: Role = "root"
    blame: Blame = "unknown"
    action: str = ""


class _File(Struct, forbid_unknown_fields=True):
    pattern: list[dict[str, Any]] = []
    xid: list[_Xid] = []


class Pattern(Struct, frozen=True, kw_only=True):
    """One pattern. Its regexes are compiled for the first line that has one of its literals: most never are."""

    id: str
    literals: tuple[str, ...]
    regex_text: str | None = None
    unless_text: str | None = None
    severity: Severity
    role: Role
    explanation: str
    source: str
    playbook: tuple[str, ...] = ()
    title: str = ""
    expressions: tuple[bytes, ...] = ()
    origin: str = ""
    """The file that it was read from: a bare name for those that come with hwtop."""

    @property
    def regex(self) -> re.Pattern[str] | None:
        """What decides; None where a literal is enough."""
        return _compiled(self.regex_text)

    @property
    def unless(self) -> re.Pattern[str] | None:
        """What must not be found."""
        return _compiled(self.unless_text)

    @property
    def is_own(self) -> bool:
        """The user's, not one that comes with hwtop."""
        return "/" in self.origin


_WHOSE: dict[str, str] = {
    "application": "usually a fault of the program, not of the GPU",
    "hardware": "a fault of the hardware, not of the program",
    "driver": "a fault of driver or firmware, not of the program",
}


class XidMeaning(Struct, frozen=True):
    """The entry of one Xid code in NVIDIA's catalogue."""

    meaning: str
    severity: Severity
    role: Role
    blame: Blame = "unknown"
    action: str = ""
    fatal_severity: Severity | None = None

    def severity_in(self, text: str) -> Severity:
        """The severity of a line: that of NVLink 5 depends on a word in it."""
        return self.fatal_severity if self.fatal_severity and _FATAL.search(text) else self.severity

    @property
    def whose(self) -> str | None:
        """Who is to blame, in a sentence."""
        return _WHOSE.get(self.blame)


class Registry(Struct, frozen=True):
    """All patterns, in the order in which they are tried, and the table of Xid codes."""

    patterns: tuple[Pattern, ...]
    xids: dict[int, XidMeaning]

    def literals(self) -> tuple[str, ...]:
        """Every literal once: a line without any of them cannot match."""
        return tuple(dict.fromkeys(literal for pattern in self.patterns for literal in pattern.literals))


def parse_file(text: str, name: str, *, is_tested: bool = False) -> Registry:
    """The patterns of one file. `is_tested`: all of its regexes are known to compile.

    Raises:
        UsageError: not TOML, an unknown key or value, a regex that does not compile; the message names file and pattern.
    """
    try:
        data: dict[str, Any] = tomli.loads(text)
        file = msgspec.convert(data, _File)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise UsageError(f"{name}: {error}; {_HELP}") from error
    patterns = tuple(_pattern(number, raw, name, is_tested) for number, raw in enumerate(file.pattern, start=1))
    xids = {
        entry.code: XidMeaning(
            entry.meaning, entry.severity, entry.role, entry.blame, entry.action, entry.fatal_severity
        )
        for entry in file.xid
    }
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
    names = (file.name for file in resources.files(__package__ or "").iterdir())
    return merge(builtin_file(name) for name in sorted(names) if name.endswith(".toml"))


@cache
def builtin_file(name: str) -> Registry:
    """The patterns of one of the files that come with hwtop."""
    return parse_file((resources.files(__package__ or "") / name).read_text(encoding="utf-8"), name, is_tested=True)


def _pattern(number: int, raw: dict[str, Any], name: str, is_tested: bool) -> Pattern:
    where = f'{name}: pattern {number} "{raw.get("id", "without id")}"'
    try:
        entry = msgspec.convert(raw, _Entry)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}; {_HELP}") from error
    _check(entry, where)
    if not is_tested:
        _check_regexes(entry, where)
    return Pattern(
        origin=name,
        id=entry.id,
        literals=tuple(entry.literals),
        regex_text=entry.regex,
        unless_text=entry.unless,
        severity=entry.severity,
        role=entry.role,
        explanation=entry.explanation,
        source=entry.source,
        playbook=tuple(entry.playbook),
        title=entry.title,
        expressions=tuple(expression.encode() for expression in entry.expressions),
    )


def _check(entry: _Entry, where: str) -> None:
    if _ID.fullmatch(entry.id) is None:
        raise UsageError(f"{where}: an id must be lower-case words joined by hyphens, e.g. disk-full")
    is_given = entry.literals or entry.expressions
    if not is_given or any(literal != literal.lower() or not literal.strip() for literal in entry.literals):
        raise UsageError(f"{where}: `literals` are required, in lower case")
    if entry.expressions and entry.regex is None:
        raise UsageError(f"{where}: `expressions` only preselect lines: add a `regex` that decides")
    if any("\n" in literal or "\r" in literal for literal in entry.literals):
        raise UsageError(f"{where}: a literal cannot span lines: remove the line break")
    if not entry.explanation.strip():
        raise UsageError(f"{where}: `explanation` is required: say what the line means")


def _check_regexes(entry: _Entry, where: str) -> None:
    key = "regex"
    try:
        _compiled(entry.regex)
        key = "unless"
        _compiled(entry.unless)
    # OverflowError and ValueError: a count that is too large, or of thousands of digits
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise UsageError(f"{where}: invalid regex in `{key}`: {error}") from error


@cache
def _compiled(regex: str | None) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "possible nested set" would be printed over the screen
        return None if regex is None else re.compile(regex, re.IGNORECASE)
