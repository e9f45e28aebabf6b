"""Fit: a text of at most so many bytes. What was left out is named, with the command that prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hwtop.job.log.text import visible

BRIEF_BYTES = 3_000
"""Of `--brief`: 1,500 tokens. Measured with o200k_base and cl100k_base: 2.6 to 3.0 bytes a token in reports, and 2.04 in tables of numbers."""
LEAST_BYTES = 500
"""A limit below it would leave no room for more than the verdict."""
_END_BYTES = 64
"""Of the line that ends a report."""


class Section(Struct, frozen=True):
    """Lines that are shown as far as there is room."""

    name: str
    """In the plural: "checks"."""
    lines: Sequence[str]


def fitted(head: Sequence[str], sections: Sequence[Section], most_bytes: int | None, whole: str) -> str:
    """The head, which is never cut, and of the sections, the most important first, what fits; each line with a line end.

    `whole`: the command that prints all of it. None: no limit.
    """
    lines = [visible(line) for line in head]
    if most_bytes is None:
        return _text([*lines, *(visible(line) for section in sections for line in section.lines)])
    left = most_bytes - _END_BYTES - len(_text([*lines, _cut(list(map(_all_of, sections)), whole)]).encode())
    cut: list[str] = []
    for section in sections:
        shown = list(_first(section.lines, left if not cut else 0))
        left -= len(_text(shown).encode())
        lines += shown
        if (missing := len(section.lines) - len(shown)) > 0:
            cut.append(f"{missing} of {len(section.lines)} lines of {section.name}" if shown else section.name)
    return _text([*lines, _cut(cut, whole)] if cut else lines)


def _all_of(section: Section) -> str:
    """As long as what can be said of it in the last line."""
    return f"{len(section.lines)} of {len(section.lines)} lines of {section.name}"


def _cut(parts: Sequence[str], whole: str) -> str:
    return f"Cut: {', '.join(parts)}; `{visible(whole)}` prints all"


def _first(lines: Sequence[str], room: int) -> Iterator[str]:
    for line in map(visible, lines):
        room -= len(line.encode()) + 1
        if room < 0:
            return
        yield line


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
