"""Hint: a check of the script. What it finds are lines, each with a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hwtop.preflight.check import Check, Outcome, passed, warned
from hwtop.preflight.machine import Machine
from hwtop.preflight.script.source import Script

Found = Iterator[tuple[int, str]]
"""(line, what is wrong there)."""


def hint(id: str, about: str, find: Callable[[Script, Machine], Found], remedy: str) -> Check:  # noqa: A002
    """A check that warns where `find` finds something."""

    def look(machine: Machine) -> Outcome:
        lines: dict[str, list[int]] = {}
        for line, words in find(machine.script, machine):
            lines.setdefault(words, []).append(line)
        if not lines:
            return passed("nothing found")
        found = (f"line {', '.join(map(str, sorted(set(where))))}: {words}" for words, where in lines.items())
        return warned("; ".join(found), remedy)

    return Check(id=id, about=about, look=look)
