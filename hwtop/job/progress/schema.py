"""Schema: what the numbers of a file's lines are, learnt from how they move, where their keys alone do not tell.

Of lines with the same keys the whole number that grows from each to the next is the step, if something of a training is measured
beside it. Keys of a few letters are trusted when they shorten the words of a known quantity and what they hold moves, too. Where no
word of a line is known the counter has to grow evenly, for longer, beside a number that changes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from hwtop.job.log.parsed import ParsedLine
from hwtop.job.progress.field_names import is_foreign, is_part_loss, is_some_loss, name_of
from hwtop.job.progress.field_units import WORK, Field, rate, whole
from hwtop.job.progress.fields import fields
from hwtop.job.progress.found import Found, value_of
from hwtop.job.progress.line import HEAD
from hwtop.lazy_regex import lazy_regex
from hwtop.model.evidence import REPEATED
from hwtop.model.reported.log import Progress

SURE_WITHOUT_WORDS = 6
"""Lines in which a counter of an unknown name must grow evenly; `REPEATED` of a known one. Engineering default."""
_TRIED = 400
"""Lines without a known word that are looked through for a counter: a file that has none by then has none. Engineering default."""
_KEPT_LAYOUTS = 16
_READ_CHARS = 512
"""Characters: a line of few letters is short."""
_SHORT = lazy_regex(r"(?<!\w)[A-Za-z]{1,3}\s?[:=#]?\s?\d+(?:/\d+)?[\s,;|)\]]")
_DECIMAL = lazy_regex(r"\d\.\d")
_GLUED = lazy_regex(r"\b([A-Za-z]{1,3})(\d+)(?=/\d|[\s,;:|)\]]|$)")
"""`e1 b34`"""
_LONG_FORMS = {"loss": ("loss", "train loss", "training loss"), "lr": ("learning rate",), "grad_norm": ("grad norm", "gradient norm")}  # fmt: skip
_COUNTERS = ("step", "iteration", "update", "batch")
_MEASURED = ("loss", "nll", "cross entropy", "cross_entropy", "cross-entropy", "xent", "ppl", "perplexity", "objective", "elbo", "reward", "return", "fitness", "accuracy", "acc", "auc")  # fmt: skip
_OF_TRAINING = lazy_regex(rf"(?:\b|_)(?:{'|'.join(_MEASURED)})(?:es)?\b", re.IGNORECASE)
"""What only a training measures."""
_WORK = lazy_regex(rf"\d\s+(?:{WORK})\b(?!\s?/|\s+per\b)", re.IGNORECASE)
"""`seen 3200 samples` counts no steps."""
NO_STEP = lazy_regex(
    r"(?:.* )?(?:samples?|tokens?|(?:up)?time|timestamp|seed|eta|elapsed|seconds|bytes|size|version|pid|rank)(?: .*)?"
)
"""What grows, too, or stands in each line."""


class Schema:
    """Takes the lines of one file and rank that tell no step of their own."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], deque[list[Field]]] = {}
        self._has_steps = False
        self._tried = 0
        """Lines without a known word in a row that told nothing."""

    def read(self, line: ParsedLine, progress: Progress | None) -> Progress | None:
        """What the line tells with what is learnt; `progress` is what it tells by itself."""
        self._has_steps = self._has_steps or (progress is not None and progress.step is not None)
        if len(line.text) > _READ_CHARS or not self._is_wanted(line, progress):
            return progress
        row = list(fields(_GLUED.sub(r"\1 \2", line.body)))
        layout = tuple(field.key for field in row)
        if len(row) < 2 or (layout not in self._seen and len(self._seen) >= _KEPT_LAYOUTS):
            return progress
        rows = self._seen.setdefault(layout, deque(maxlen=SURE_WITHOUT_WORDS))
        rows.append(row)
        step = 0 if _vouch_for_each_other(row) else _step_of(tuple(rows)[-REPEATED:]) if len(rows) >= REPEATED else None
        if step is not None and (learned := _learned(row, step, line.body)) is not None:
            return learned
        if progress is None and not self._has_steps and (step := _even_counter(rows)) is not None:
            self._tried = 0
            return _counted(row, step)
        return progress

    def _is_wanted(self, line: ParsedLine, progress: Progress | None) -> bool:
        if progress is not None:
            return progress.loss is not None and progress.step is None and progress.epoch is None
        if _is_short(line):
            return True
        if self._has_steps or _WORK.search(line.text) is not None:
            return False
        return _is_of_training(line.text) or self._may_count(line.text)

    def _may_count(self, text: str) -> bool:
        if self._tried >= _TRIED or _DECIMAL.search(text) is None:
            return False
        self._tried += 1
        return True


def _is_of_training(text: str) -> bool:
    lower = text.lower()
    return any(map(lower.__contains__, _MEASURED)) and _OF_TRAINING.search(text) is not None


def _is_short(line: ParsedLine) -> bool:
    """The line begins with a counter of a few letters. Most do not have one at all: their prefix is left alone."""
    return _SHORT.search(line.text, 0, HEAD) is not None and _SHORT.match(line.body.lstrip(" [(|-")) is not None


def _vouch_for_each_other(row: Sequence[Field]) -> bool:
    """A counter, and then nothing but quantities of training, several of them: one line is enough."""
    first, *others = row
    if not all(field.key for field in row):
        return False
    is_count = first.decimals == 0 and any(_shortens(first.key, (word,)) for word in _COUNTERS)
    named = {name_of(field.key) or _long_form(field.key) for field in others}
    return is_count and None not in named and len(named & _LONG_FORMS.keys()) == len(_LONG_FORMS)


def _step_of(rows: Sequence[Sequence[Field]]) -> int | None:
    """The place of the first whole number that grows from each line to the next, beside something measured that moves."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    if not any(_is_measured(column) for column in columns):
        return None
    return next((place for place, column in enumerate(columns) if _is_counter(column)), None)


def _even_counter(rows: Sequence[Sequence[Field]]) -> int | None:
    """The place of the first whole number that grows by the same from each line to the next, beside one that changes and has no unit."""
    if len(rows) < REPEATED:
        return None
    columns = [list(column) for column in zip(*rows, strict=True)]
    if not any(_is_measured(column) and not column[0].unit and not column[0].per for column in columns):
        return None
    counters = (place for place, column in enumerate(columns) if _is_counter(column) and _is_even(column))
    is_long = len(rows) >= SURE_WITHOUT_WORDS
    return next((place for place in counters if is_long or name_of(columns[place][0].key) is not None), None)


def _is_even(column: Sequence[Field]) -> bool:
    return len({later.value - earlier.value for earlier, later in pairwise(column)}) == 1


def _is_counter(column: Sequence[Field]) -> bool:
    first = column[0]
    is_plain = not any(field.unit or field.per or field.is_percent or field.decimals for field in column)
    grows = all(later.value > earlier.value and later.value.is_integer() for earlier, later in pairwise(column))
    is_other = is_foreign(first.key) or rate(first) is not None or NO_STEP.fullmatch(first.key) is not None
    return is_plain and grows and name_of(first.key) in (None, "step", "iteration") and not is_other


def _is_measured(column: Sequence[Field]) -> bool:
    return any(field.decimals for field in column) and len({field.value for field in column}) > 1


def _learned(row: Sequence[Field], step: int, text: str) -> Progress | None:
    """None where nothing of a training stands beside the step."""
    found = Found()
    for place, field in enumerate(row):
        name = "step" if place == step else name_of(field.key) or _long_form(field.key)
        value = None if name is None or (name == "epoch" and not field.value.is_integer()) else value_of(name, field)
        if name is not None and value is not None and not is_foreign(field.key):
            found.take_field(name, value, field, field.key)
        elif (speed := rate(field)) is not None:
            found.rate(speed, field.key)
        elif is_some_loss(field.key.removesuffix(" is")) and not is_foreign(field.key):
            found.some_losses.append(None if is_part_loss(field.key) else field.value)
    found.name_sole_loss()
    return found.progress() if found.values.keys() & _LONG_FORMS.keys() or _is_of_training(text) else None


def _counted(row: Sequence[Field], step: int) -> Progress:
    """The step, and of the rest what only a training has: its scale, and how many steps were skipped."""
    known = {name: value_of(name, each) for each in row if (name := name_of(each.key)) in ("loss_scale", "skipped")}
    return Progress(
        step=int(row[step].value),
        total_steps=row[step].total,
        loss_scale=known.get("loss_scale"),
        skipped_steps=whole(known.get("skipped")),
    )


def _long_form(key: str) -> str | None:
    return next(
        (name for name, forms in _LONG_FORMS.items() if any(_shortens(key, form.split()) for form in forms)), None
    )


def _shortens(key: str, words: Sequence[str]) -> bool:
    """`trl` is `train loss`: the beginnings of its words, one after the other."""
    if not words:
        return not key
    return any(
        words[0].startswith(key[:length]) and _shortens(key[length:], words[1:]) for length in range(1, len(key) + 1)
    )
