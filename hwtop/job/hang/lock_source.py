"""Which locks a line of Python source holds: the `with` blocks around it, and what was acquired above it. Pure.

Told from indentation, without parsing: a lock over several lines, or one taken by a function that is called, is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.lazy_regex import lazy_regex

WITH = lazy_regex(r"^\s*(?:async\s+)?with\s+([^:#]+):")
"""Its body may stand on the same line."""
ACQUIRE = lazy_regex(r"([\w.\[\]]+)\.acquire\(")
_CALL = lazy_regex(r"([\w.\[\]]+)\.(acquire|release)\(")
_FUNCTION = lazy_regex(r"^\s*(?:async\s+)?def\s")
_READ_LINES = 500
"""A longer function is not searched to its top."""


def held_at(lines: Sequence[str], line: int) -> tuple[str, ...]:
    """Names of the locks that are held while `line` (1 = the first) runs, outermost first.

    A `with` counts inside of its block only, and only with a plain name: `with open(path)` is no lock. An `acquire()` counts
    from the next line of its function on until a `release()` of the same name.
    """
    if not 0 < line <= len(lines):
        return ()
    indent = _indent(lines[line - 1])
    withs: list[str] = []
    calls: list[tuple[str, str]] = []
    for text in reversed(lines[max(0, line - 1 - _READ_LINES) : line - 1]):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        calls += [(found[1], found[2]) for found in reversed(list(_CALL.finditer(text)))]
        if _indent(text) >= indent:
            continue
        indent = _indent(text)
        if _FUNCTION.match(text):
            break
        if block := WITH.match(text):
            withs = [*plain_names(block[1]), *withs]
    return (*withs, *_acquired(calls[::-1]))


def plain_names(items: str) -> list[str]:
    """Of "self._lock, open(path) as file" those that are names and no calls."""
    names = [item.partition(" as ")[0].strip() for item in items.split(",")]
    return [name for name in names if name and "(" not in name and ")" not in name]


def _acquired(calls: Sequence[tuple[str, str]]) -> list[str]:
    held: list[str] = []
    for lock, verb in calls:
        if verb == "acquire":
            held.append(lock)
        elif lock in held:
            held.remove(lock)
    return held


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
