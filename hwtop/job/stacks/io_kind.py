"""Saving, reporting and loading told from what a user's line does with files and the network, whatever its function is called. Pure.

Saving and logging both write files. A checkpoint is written anew and as a whole; a log grows by small pieces. So mode "a", a line of
text, rows of a table, and names that speak of logs, metrics or curves are logging, and any other writing is saving ("checkpoint").

What is sent over the network between steps is reporting ("logging"), and what is only fetched is data. A request whose answer the
step needs (a reward model, a simulator), and what ranks exchange among themselves, is neither: it stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from hwtop.job.stacks.activities import IoKind, calls, concept
from hwtop.job.stacks.code_line import pauses
from hwtop.job.stacks.frames import PLUMBING, called_by_user, is_user_frame, short_name
from hwtop.job.stacks.io_calls import (
    APPENDS,
    BY_TEXT,
    CODE_PATTERNS,
    FETCHES,
    NEUTRAL,
    PIECE,
    PLACES,
    SENDS,
    USES_ANSWER,
    WRAPPERS,
)
from hwtop.job.stacks.name_words import words
from hwtop.lazy_regex import lazy_regex
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame

_SAYS, _MAY = 0.8, 0.3
"""Weights: what the line most probably does, and what else it might be (who writes may write a log, a checkpoint or a
cache). Engineering default."""
_WRITES: tuple[Phase, ...] = ("checkpoint", "logging", "data-main")
_CALLERS = 3
"""So many of the functions around a request say what it is for: clients have helpers of their own. Engineering default."""
_STATEMENTS = lazy_regex(r"\s*;\s*(?=[A-Za-z_(]|$)")
_CALLS = lazy_regex(r"[\w\])]\(")


def io_votes(frames: Sequence[StackFrame]) -> Iterator[tuple[Phase, float, StackFrame]]:
    """(phase, weight, frame): what the innermost user frame is writing, sending or reading."""
    library = called_by_user(frames)
    users = [frame for frame in frames[len(library) :] if is_user_frame(frame)]
    io_kind = _traffic(library, users[0].code or "") if users else None
    if io_kind is None:
        return
    phase = _of_file(io_kind, users[0]) if io_kind in ("write", "row", "read") else _of_network(io_kind, users)
    if phase is None:
        return
    yield phase, _SAYS, users[0]
    for other in _WRITES if io_kind == "write" else ():
        if other != phase:
            yield other, _MAY, users[0]


def reads(code: str | None) -> bool:
    """Bytes come in on this line, from a file, a database or the network."""
    return code is not None and (_kind(code) == "read" or FETCHES.search(code) is not None)


@lru_cache(maxsize=1 << 14)
def _called(name: str, short_filename: str) -> IoKind | None:
    return next((io_kind for io_kind, fits in calls() if fits(name, short_filename)), None)


def _traffic(library: Sequence[StackFrame], code: str) -> IoKind | None:
    if not library:
        return _said(code)
    entry = _entered(library)
    if entry is None:
        return None
    found = _called(entry.name, entry.short_filename)
    if found == "ask":
        return _direction(code)
    return _said(code) if found is None and entry.short_filename.startswith(BY_TEXT) else found


def _entered(library: Sequence[StackFrame]) -> StackFrame | None:
    """The library's frame that the user's line called; decorators left out."""
    named = (
        frame
        for frame in reversed(library)
        if short_name(frame.name) not in WRAPPERS and (frame.short_filename, short_name(frame.name)) not in PLUMBING
    )
    return next(named, None)


def _said(code: str) -> IoKind | None:
    """Of a line whose time goes to C code: every statement on it must be of that kind, or call nothing."""
    kinds = [kind for part in _STATEMENTS.split(code) if (kind := _kind(part)) != "nothing"]
    return kinds[0] if kinds and None not in kinds and not pauses(code) else None


def _kind(statement: str) -> IoKind | Literal["nothing"] | None:
    """ "nothing": it takes no time of its own. None: it may take any."""
    found = next((io_kind for io_kind, pattern in CODE_PATTERNS if pattern.search(statement)), None)
    if found is None and (not _CALLS.search(statement) or NEUTRAL.search(statement)):
        return "nothing"
    return found


def _direction(code: str) -> IoKind:
    if SENDS.search(code):
        return "send"
    return "fetch" if FETCHES.search(code) else "ask"


def _of_file(io_kind: IoKind, user: StackFrame) -> Phase | None:
    code = user.code or ""
    said = words(PLACES.sub("", code)) | words(user.name)
    if io_kind == "read":
        return _what_is_read(said, concept("mark", "model", "best"))
    if io_kind == "row" or APPENDS.search(code):
        return "logging"
    if said & {"stdin", "stdout", "stderr"}:
        return None
    if said & concept("mark", "model", "best"):
        return "checkpoint"
    if said & concept("log", "metric", "piece", "loss") or PIECE.search(code):
        return "logging"
    return "data-main" if said & concept("data", "cache") else "checkpoint"


def _what_is_read(said: frozenset[str], keeps: frozenset[str]) -> Phase | None:
    if said & concept("settings"):
        return None
    return "checkpoint" if said & keeps else "data-main"


def _of_network(io_kind: IoKind, users: Sequence[StackFrame]) -> Phase | None:
    code, names = users[0].code or "", [words(frame.name) for frame in users[:_CALLERS]]
    said = words(PLACES.sub("", code))
    if any(name & concept("ask", "value", "exchange", "exchanging") for name in names):
        return None
    if said & concept("ask", "exchange"):
        return None
    if io_kind == "ask":
        io_kind = _purpose(names)
    if io_kind == "fetch":
        return _what_is_read(said | names[0], concept("mark"))
    if io_kind != "send" or USES_ANSWER.search(code):
        return None
    return "checkpoint" if (said | names[0]) & concept("mark") else "logging"


def _purpose(names: Sequence[frozenset[str]]) -> IoKind:
    """What the functions around a request say of it, the innermost first."""
    for name in names:
        if name & concept("emit", "log", "metric"):
            return "send"
        if name & concept("fetch"):
            return "fetch"
    return "ask"
