"""Texts of a record with placeholders: `"{gpus} at {temp:.0f} °C"`, filled with the facts that a rule found.

A text is a string, or a list of alternatives: the first one whose placeholders all have a fact is taken. `{is_gone:if}` prints nothing:
the text is for that case only. `{share:pct}` prints 0.155 as 15.5 %. `{mount:sh}` is quoted for the shell: what stands in a command and came
from the machine.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from string import Formatter

from hwtop.job.log.text import visible
from hwtop.job.secrets import masked_text
from hwtop.model.job import Job
from hwtop.seconds import span

Fact = str | int | float | None
"""None or False: a text that needs it is left out."""
Facts = Mapping[str, Fact]
Text = str | tuple[str, ...]

SHOWN = 4
"""Ranks, GPUs or processes of which the evidence has a line each."""
SHOWN_CHARS = 240
"""Of a line of a log that is quoted."""


def quoted(text: str | None, most: int = SHOWN_CHARS) -> str:
    """What the job wrote, as evidence: with secrets masked, before it is cut, since half a secret is not recognised."""
    masked = masked_text((text or "")[: 2 * most])
    return masked if len(masked) <= most else masked[: most - 1] + "…"


def counted(count: int, one: str, many: str | None = None) -> str:
    """ "1 rank", "4 ranks"; `many` where it is not `one` with an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share of one: "93 %"."""
    return f"{share:.0%}".replace("%", " %")


def roughly(seconds: float) -> str:
    """How long something may still take: "59 s", "7 min", "2.5 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def fit_to_backend(lines: Sequence[str], job: Job | None) -> tuple[str, ...]:
    """Lines without those about NCCL where the ranks use another backend, or one rank none."""
    has_none = job is not None and job.backend is None and (job.world_size or len(job.ranks)) == 1
    is_without = has_none or (job is not None and job.backend == "gloo")
    return tuple(line for line in lines if not (is_without and "NCCL_" in line))


def filled(text: Text, facts: Facts) -> str | None:
    """With the facts in place of the placeholders; None where one is missing."""
    for each in _alternatives(text):
        if all(_is_known(facts.get(name)) for name in placeholders(each)):
            return _joined(each, lambda name, form: _formatted(facts[name], form))
    return None


def filled_all(texts: Sequence[Text], facts: Facts) -> tuple[str, ...]:
    """Those that can be filled, in their order."""
    return tuple(each for text in texts if (each := filled(text, facts)) is not None)


def named(text: Text) -> str:
    """For people, without a job: `{pid}` is PID."""
    return _joined(_alternatives(text)[0], lambda name, form: "" if form == "if" else name.upper())


def is_general(text: Text) -> bool:
    """It says something without a job: more than one placeholder."""
    return any(literal.strip() for literal, _, _ in _parts(_alternatives(text)[0]))


def placeholders(text: Text) -> frozenset[str]:
    """Their names.

    Raises:
        ValueError: a brace is not closed.
    """
    return frozenset(name for each in _alternatives(text) for _, name, _ in _parts(each) if name)


def _alternatives(text: Text) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text


def _joined(text: str, value: Callable[[str, str], str]) -> str:
    return "".join(literal + (value(name, form) if name else "") for literal, name, form in _parts(text))


def _is_known(fact: Fact) -> bool:
    return fact is not None and fact is not False


def _formatted(value: Fact, form: str) -> str:
    if form == "if":
        return ""
    if form == "sh":
        return shlex.quote(visible(str(value)))
    if form == "span":
        return span(float(value or 0))
    if form == "pct":
        return f"{100 * float(value or 0):.3g} %"
    return format(value, form).replace("%", " %") if form.endswith("%") else format(value, form)


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[tuple[str, str, str], ...]:
    """(text before, name, format) of each placeholder; a last one without a name."""
    return tuple((literal, name or "", form or "") for literal, name, form, _ in Formatter().parse(text))
