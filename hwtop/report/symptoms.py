"""Symptoms as text: the list with thresholds, one of them explained, and all of them as a page of documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

import msgspec

from hwtop.symptoms.playbooks import Playbook, playbooks
from hwtop.symptoms.rule import Rule
from hwtop.symptoms.rules import UNJUDGED
from hwtop.symptoms.thresholds import range_words, settable

_FAMILIES = {
    "stability": "Stability: it stands still, ends, or soon will",
    "correctness": "Correctness: it runs, but does not learn",
    "performance": "Performance: it runs, but slowly",
}
_WIDTH = 110


def list_text(rules: Iterable[Rule]) -> list[str]:
    """One line a symptom, by family: its id and when it is raised."""
    known = _by_symptom(rules)
    width = max(map(len, playbooks()))
    lines: list[str] = []
    for family, heading in _FAMILIES.items():
        lines += ["", heading] if lines else [heading]
        lines += [f"  {name:{width}}  {_threshold(name, known)}" for name, _ in _of_family(family)]
    return lines


def symptom_json(name: str, rules: Iterable[Rule]) -> str:
    """One symptom as a JSON object on one line."""
    rule, book = _by_symptom(rules).get(name), playbooks()[name]
    row: dict[str, Any] = {
        "symptom": name,
        **msgspec.to_builtins(book),
        "threshold": rule.says if rule else None,
        "raise_s": rule.raise_s if rule else None,
        "clear_s": rule.clear_s if rule else None,
        "limits": settable(rule) if rule else None,
    }
    return msgspec.json.encode(row).decode()


def explain_text(name: str, rules: Iterable[Rule]) -> list[str]:
    """One symptom in full: what it means, when it is raised, what to do, what would refute it."""
    book, rule = playbooks()[name], _by_symptom(rules).get(name)
    lines = [
        f"{name}: {book.title} ({book.category})",
        "",
        *wrap(book.meaning, _WIDTH),
        "",
        *_when(name, rule),
        "",
        "What to do",
    ]
    lines += [f"  {number}. {step}" for number, step in enumerate(book.steps, 1)]
    lines += ["", *_indented("To test it", book.test), *_indented("Against it", book.refuted_by)]
    lines += ["", "If that is not enough", *(f"  {step}" for step in book.escalate)] if book.escalate else []
    return lines


def page_markdown(rules: Iterable[Rule]) -> str:
    """The page of documentation."""
    known = _by_symptom(rules)
    parts = [
        "# Symptoms",
        "",
        "Made by `hwtop symptoms --markdown`. `hwtop explain SYMPTOM` prints one of them. The numbers under Settings can be changed in",
        "the settings file: `[symptoms.thresholds]`, then `SYMPTOM.NAME = VALUE`. `raise_s`: seconds that it must hold to be raised,",
        "`clear_s`: seconds that it must be away to be cleared, `window_s`: seconds that are looked back on.",
    ]
    for family, heading in _FAMILIES.items():
        parts += ["", f"## {heading}"]
        for name, book in _of_family(family):
            parts += [
                "",
                f"### `{name}`: {book.title}",
                "",
                book.meaning,
                "",
                f"Raised when: {_threshold(name, known)}.",
                *(["", _settings(known[name])] if name in known else []),
                "",
            ]
            parts += [f"{number}. {_code(step)}" for number, step in enumerate(book.steps, 1)]
            parts += ["", f"To test it: {_closed(book.test)} Against it: {_closed(book.refuted_by)}"]
            parts += (
                ["", "If that is not enough:", "", *(f"- {_code(step)}" for step in book.escalate)]
                if book.escalate
                else []
            )
    return "\n".join(parts) + "\n"


def _settings(rule: Rule) -> str:
    numbers = ", ".join(f"`{key}` {value:.10g}" for key, value in settable(rule).items())
    return f"Settings: {numbers}."


def _when(name: str, rule: Rule | None) -> list[str]:
    if rule is None:
        return _indented("Raised when", UNJUDGED[name])
    held = f"after {rule.raise_s:g} s of it" if rule.raise_s else "at once"
    return [
        *_indented("Raised when", rule.says),
        f"  {held}; cleared when it has been away for {rule.clear_s:g} s",
        f"Settings: [symptoms.thresholds.{name}]",
        *(f"  {key} = {value:.10g}   # {range_words(rule, key)}" for key, value in settable(rule).items()),
    ]


def _indented(what: str, text: str) -> list[str]:
    return wrap(f"{what}: {text}", _WIDTH, subsequent_indent="  ")


def _code(step: str) -> str:
    """A step with its command set as code: the command stands before the remark."""
    command, mark, remark = step.partition("   # ")
    return f"`{command.strip()}` ({remark})" if mark else step


def _closed(sentence: str) -> str:
    text = _code(sentence)
    return text if text.endswith(("?", ".")) else f"{text}."


def _threshold(name: str, known: Mapping[str, Rule]) -> str:
    return known[name].says if name in known else UNJUDGED[name]


def _by_symptom(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    return {rule.symptom: rule for rule in rules}


def _of_family(family: str) -> list[tuple[str, Playbook]]:
    return [(name, book) for name, book in playbooks().items() if book.category == family]
