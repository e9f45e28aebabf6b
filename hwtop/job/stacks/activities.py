"""What libraries do, and the words that people use for it: `activities.toml`, read once.

[[library]]              frames of a library, or functions that mean the same in any file
phase = "collective"
level = "outer"          outer: whatever it calls is this. inner: so, if nothing nearer the leaf says otherwise. around: a weak sign
files = ["torch/optim/"] start of the short file name; "*core/" is contained in it; none: any file
names = "step"           last component of the function's name; none: all but module level code
is_users = true          frames of the user's own code only
is_on_device = true      in processes that compute on an accelerator only

[[queue]]                functions in which Python's own library waits for what another thread or process makes
[[call]]                 functions that the user's line calls, and what passes through them (`kind`: IoKind)
[words]                  concept = "its words"
[[name]]                 words that a user's function must have: of each of `all`, of `only` none other, of `none` none.
                         Two concepts in one entry, "data item", are one. `is_vague`: says little
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Literal

import msgspec
import tomli
from msgspec import Struct

from hwtop.job.stacks.frames import short_name
from hwtop.model.rank_stack import Phase

IoKind = Literal["write", "row", "read", "send", "fetch", "ask"]
"""To and from files: "write", "row" (one of a table or picture, for people), "read". To and from others: "send", "fetch", and "ask"
where nothing on the line tells which way the bytes go."""
Level = Literal["outer", "inner", "around"]


Matcher = Callable[[str, str], bool]
"""(name of a function, short name of its file) -> whether it is one of them."""


class _Functions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    files: tuple[str, ...] = ()
    names: str = ""


class _Library(_Functions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phase: Phase
    level: Level
    is_users: bool = False
    is_on_device: bool = False


class _Call(_Functions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: IoKind


class _Name(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phase: Phase
    all: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    is_vague: bool = False


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    library: tuple[_Library, ...]
    queue: tuple[_Functions, ...]
    call: tuple[_Call, ...]
    words: dict[str, str]
    name: tuple[_Name, ...]


class Rule(Struct, frozen=True):
    """Frames that mean a phase."""

    phase: Phase
    fits: Matcher
    is_of_library: bool
    """It names files: nobody's function is called so by chance."""
    is_users: bool
    """Frames of the user's own code only."""
    is_on_device: bool
    """In processes that compute on an accelerator only."""


class NameRule(Struct, frozen=True):
    """Words that mean a phase."""

    phase: Phase
    all: tuple[frozenset[str], ...]
    only: frozenset[str]
    none: frozenset[str]
    is_vague: bool

    def fits(self, words: frozenset[str]) -> bool:
        """Whether a name of these words does."""
        if not words or words & self.none or (self.only and not words <= self.only):
            return False
        return all(words & each for each in self.all)


@cache
def _file() -> _File:
    text = resources.files("hwtop.job.stacks").joinpath("activities.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomli.loads(text), _File)


@cache
def rules(level: Level) -> tuple[Rule, ...]:
    """Those of a level, in their order."""
    return tuple(
        Rule(each.phase, _matcher(each), bool(each.files), each.is_users, each.is_on_device)
        for each in _file().library
        if each.level == level
    )


@cache
def queue_waits() -> tuple[Matcher, ...]:
    """Where Python's own library waits for what another process or thread makes."""
    return tuple(_matcher(each) for each in _file().queue)


@cache
def calls() -> tuple[tuple[IoKind, Matcher], ...]:
    """Functions of libraries that the user's line calls."""
    return tuple((each.kind, _matcher(each)) for each in _file().call)


@cache
def concept(*names: str) -> frozenset[str]:
    """The words of all of these concepts."""
    return frozenset(word for name in names for word in _file().words[name].split())


@cache
def name_rules() -> tuple[NameRule, ...]:
    """What names of functions mean, the most telling first."""
    return tuple(
        NameRule(
            each.phase,
            tuple(concept(*names.split()) for names in each.all),
            concept(*each.only) if each.only else frozenset(),
            concept(*each.none),
            each.is_vague,
        )
        for each in _file().name
    )


def _matcher(functions: _Functions) -> Matcher:
    names = frozenset(functions.names.split())
    starts = tuple(file for file in functions.files if not file.startswith("*"))
    parts = tuple(file[1:] for file in functions.files if file.startswith("*"))

    def fits(name: str, short_filename: str) -> bool:
        name = short_name(name)
        if (names and name not in names) or (not names and name == "<module>"):
            return False
        is_there = short_filename.startswith(starts) or any(part in short_filename for part in parts)
        return is_there or not functions.files

    return fits
