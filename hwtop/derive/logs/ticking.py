"""Ticking lines: those that a job writes at their own pace, whatever its training does ("uptime 26s", memory in use). They are
activity, and no progress."""

from __future__ import annotations

import re

from msgspec import Struct

from hwtop.model.evidence import REPEATED

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_KEPT_FORMS = 64
"""Forms of lines that are remembered of one file."""


class _Form(Struct):
    steady: int = 0
    has_step_since: bool = False
    is_withheld: bool = False


class TickingLines:
    """Takes in the lines of one rank in one file."""

    def __init__(self) -> None:
        self._forms: dict[str, _Form | None] = {}
        """None: of this form some came without a step in between, and the training went on: an evaluation, a download."""

    def step(self) -> None:
        """The training has told a step."""
        for text, form in self._forms.items():
            if form is not None and form.is_withheld:
                self._forms[text] = None
            elif form is not None:
                form.has_step_since = True

    def ticks(self, line: str) -> bool:
        """Whether a line without a step is one that shows no progress: its form came only with steps in between, and now without."""
        text = _NUMBER.sub("#", line)
        if text not in self._forms:
            if len(self._forms) < _KEPT_FORMS:
                self._forms[text] = _Form()
            return False
        form = self._forms[text]
        if form is None:
            return False
        if form.has_step_since:
            form.steady, form.has_step_since = form.steady + 1, False
            return False
        form.is_withheld = form.steady >= REPEATED
        if not form.is_withheld:
            self._forms[text] = None
        return form.is_withheld
