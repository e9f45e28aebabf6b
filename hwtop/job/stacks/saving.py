"""Saving: functions of the user that save as a whole, learnt from the samples of one process. Pure.

What is saved may be packed, hashed and read again first, on lines of unknown purpose. Those belong to the save where the function that
they are in was seen saving and in no part of a step, while steps are seen outside of it.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from hwtop.job.stacks.classified import ClassifiedStack
from hwtop.job.stacks.frames import is_user_frame
from hwtop.model.evidence import MINOR, REPEATED
from hwtop.model.rank_stack import Phase

LEARNS: frozenset[Phase] = frozenset({"forward", "backward", "optimizer"})
_LEAST_SHARE = 0.03
"""Of the samples of a function: what saves less of its time does something else. Engineering default."""
_KEPT = 8192

Function = tuple[str, str]


class Saving:
    """Takes the samples of one process in order of time."""

    def __init__(self) -> None:
        self._looks = self._steps = 0
        self._of: dict[Function, tuple[int, int, int]] = {}
        """Function -> its samples, those that save, those in a part of a step."""

    def read(self, said: ClassifiedStack) -> ClassifiedStack:
        """The sample, as a save where it is of unknown purpose within a function that saves."""
        saves, steps = said.phase == "checkpoint", said.phase in LEARNS
        self._looks += 1
        self._steps += steps
        functions = _functions(said)
        for function in functions:
            looks, saving, stepping = self._of.get(function, (0, 0, 0))
            if looks or len(self._of) < _KEPT:
                self._of[function] = looks + 1, saving + saves, stepping + steps
        return _as_save(said) if said.phase == "other" and any(map(self._saves, functions)) else said

    def _saves(self, function: Function) -> bool:
        looks, saving, stepping = self._of.get(function, (0, 0, 0))
        is_known = saving >= REPEATED and saving >= _LEAST_SHARE * looks
        return is_known and not stepping and self._steps >= MINOR * self._looks


@lru_cache(maxsize=_KEPT)
def _functions(said: ClassifiedStack) -> tuple[Function, ...]:
    return tuple({(frame.name, frame.filename) for frame in said.path if is_user_frame(frame)})


@lru_cache(maxsize=_KEPT)
def _as_save(said: ClassifiedStack) -> ClassifiedStack:
    return replace(said, phase="checkpoint")
