"""What a rank's main thread is in, told from its stack: evidence is weighed, and the sum decides. Pure.

Each piece of evidence votes for a phase with a weight (`_WEIGHTS`): what a library's function is for; that the thread waits at a queue;
what the innermost line does, where its time goes to C code that leaves no frame (it prints, it waits for a handle, it reads a tensor
back); what that line does with files and the network; words in the names of the user's functions, which say least. Below `_LEAST` it is
"other": nobody knows. The tables are data (`activities.toml`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

from hwtop.job.stacks.activities import Level, NameRule, concept, name_rules, queue_waits, rules
from hwtop.job.stacks.code_line import prints, waits_for_device, waits_on_handle
from hwtop.job.stacks.frames import is_user_frame, own_frames, short_name
from hwtop.job.stacks.io_kind import io_votes
from hwtop.job.stacks.name_words import words
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame, ThreadStack

_COMPUTING: frozenset[Phase] = frozenset({"backward", "sync", "optimizer"})
_OUTER, _INNER, _DOES = 8.0, 4.0, 3.0
"""A function of a library that is for one thing, whatever it calls; one that the user's code is in now; what the innermost
line does. Engineering default."""
_NAMED, _AROUND, _VAGUE = 1.2, 0.75, 0.6
"""A name that says it; a module's forward around it; a name that could be of something else as well. The sum of two weak
ones outweighs any other single one. The order of all weights is what the tests of the stacks ask for. Engineering
defaults."""
_LEAST = 0.6
"""Below it the phase is unknown. Engineering default."""
_KEPT_FUNCTIONS = 50_000
"""Functions whose meaning is kept."""


class _Vote(Struct, frozen=True):
    phase: Phase
    weight: float
    frame: StackFrame


def is_waiting(stack: ThreadStack, phase: Phase, reporter: StackFrame | None) -> bool:
    """It waits for other ranks or for the device: in a collective, or asleep where it should compute. `reporter` gave the phase away.

    DDP over gloo waits for its all_reduce inside the C++ of `_engine_run_backward`, so no collective is on the stack. What sleeps in a
    function of the user that backward or a step has called, a hook, waits for something of its own.
    """
    if phase == "collective":
        return True
    return phase in _COMPUTING and not stack.is_active and not _is_in_hook(own_frames(stack), reporter)


def phase_and_frame(stack: ThreadStack, *, has_device: bool = False) -> tuple[Phase, StackFrame | None]:
    """The phase, and the frame that told it (None for "other").

    `has_device`: the process computes on an accelerator, so a line that reads a tensor's value back waits for it.
    """
    frames = own_frames(stack)
    votes = list(_votes(frames, has_device))
    sums: dict[Phase, float] = defaultdict(float)
    for vote in votes:
        sums[vote.phase] += vote.weight
    best = max(sums, key=lambda phase: sums[phase], default=None)
    if best is None or sums[best] < _LEAST:
        return "other", None
    return best, max((vote for vote in votes if vote.phase == best), key=lambda vote: vote.weight).frame


def _votes(frames: Sequence[StackFrame], has_device: bool) -> Iterator[_Vote]:
    whole = _importing(frames) or _outer(frames, has_device)
    if whole is not None:
        yield whole
        return
    for vote in (
        _queue_wait(frames, has_device),
        _line(frames, has_device),
        _inner(frames, has_device),
        _around(frames, has_device),
        _vague(frames),
    ):
        if vote is not None:
            yield vote
    for phase, weight, frame in io_votes(frames):
        yield _Vote(phase, weight, frame)


def takes_from_loader(stack: ThreadStack) -> bool:
    """It asks a library's data loader for a batch: nothing but a training does."""
    found = _outer(own_frames(stack), has_device=False)
    return found is not None and found.phase in ("data", "data-main")


def is_named_for_data(function: str) -> bool:
    """Its name speaks of data or of how it is prepared. Weak evidence: of what is waited for, not of what takes the time."""
    return not words(short_name(function)).isdisjoint(concept("data", "item", "prepare", "decode", "reader"))


def _is_in_hook(frames: Sequence[StackFrame], reporter: StackFrame | None) -> bool:
    """A function of the user is called from `reporter`, and does not read a value back from the device."""
    inside = takewhile(lambda frame: frame is not reporter, frames)
    user = next((frame for frame in inside if is_user_frame(frame)), None)
    return user is not None and not waits_for_device(user.code)


def _line(frames: Sequence[StackFrame], has_device: bool) -> _Vote | None:
    """A user's line that is itself the innermost: it computes in Python, or it is in C."""
    if not frames or frames[0].code is None:
        return None
    if waits_on_handle(frames[0].code):
        return _Vote("collective", _DOES, frames[0])
    if has_device and waits_for_device(frames[0].code):
        return _Vote("sync", _DOES, frames[0])
    return _Vote("logging", _DOES, frames[0]) if prints(frames[0].code) else None


def _importing(frames: Sequence[StackFrame]) -> _Vote | None:
    """An import, unless a function of the user runs inside it: some launchers run the training while they import it."""
    for frame in frames:
        name = short_name(frame.name)
        if name == "_find_and_load" and frame.filename == "<frozen importlib._bootstrap>":
            return _Vote("startup", _OUTER, frame)
        if name != "<module>" and is_user_frame(frame):
            return None
    return None


def _outer(frames: Sequence[StackFrame], has_device: bool) -> _Vote | None:
    """The first rule that any frame fits, and the frame nearest the leaf that fits it."""
    return _first("outer", frames, has_device, _OUTER)


def _around(frames: Sequence[StackFrame], has_device: bool) -> _Vote | None:
    return _first("around", frames, has_device, _AROUND)


def _first(level: Level, frames: Sequence[StackFrame], has_device: bool, weight: float) -> _Vote | None:
    fitting = [
        (found, depth) for depth, frame in enumerate(frames) if (found := _rule(level, frame, has_device)) is not None
    ]
    if not fitting:
        return None
    found, depth = min(fitting)
    return _Vote(rules(level)[found].phase, weight, frames[depth])


def _inner(frames: Sequence[StackFrame], has_device: bool) -> _Vote | None:
    """The frame nearest the leaf that a rule or a name knows: strong where a library's function is called there."""
    is_called = True
    for frame in frames:
        is_called = is_called and not is_user_frame(frame)
        found = _rule("inner", frame, has_device)
        rule = None if found is None else rules("inner")[found]
        if rule is not None and rule.is_of_library:
            return _Vote(rule.phase, _INNER if is_called else _NAMED, frame)
        name = rule or (_named(frame.name, False) if is_user_frame(frame) else None)
        if name is not None:
            return _Vote(name.phase, _AROUND if name.phase == "forward" else _NAMED, frame)
    return None


@lru_cache(maxsize=_KEPT_FUNCTIONS)
def _named(name: str, is_vague: bool) -> NameRule | None:
    """What a user's function of this name seems to do."""
    said = words(short_name(name))
    return next((rule for rule in name_rules() if rule.is_vague == is_vague and rule.fits(said)), None)


def _vague(frames: Sequence[StackFrame]) -> _Vote | None:
    """A user's function that seems to make batches of what was read."""
    for frame in frames:
        rule = _named(frame.name, True) if is_user_frame(frame) else None
        if rule is not None:
            return _Vote(rule.phase, _VAGUE, frame)
    return None


_known: dict[tuple[Level, str, str, str, bool], int | None] = {}
"""What `_rule` has found: a job's code has few functions, and they come again with every sample."""


def _rule(level: Level, frame: StackFrame, has_device: bool) -> int | None:
    """Index of the first rule of this level that the function of `frame` fits."""
    key = (level, frame.name, frame.filename, frame.short_filename, has_device)
    if key not in _known:
        if len(_known) >= _KEPT_FUNCTIONS:
            _known.clear()
        _known[key] = next(
            (
                index
                for index, rule in enumerate(rules(level))
                if rule.fits(frame.name, frame.short_filename)
                and (has_device or not rule.is_on_device)
                and (is_user_frame(frame) or not rule.is_users)
            ),
            None,
        )
    return _known[key]


@lru_cache(maxsize=_KEPT_FUNCTIONS)
def waits_at_queue(name: str, short_filename: str) -> bool:
    """Whether Python's own library waits there for what another process or thread makes."""
    return any(fits(name, short_filename) for fits in queue_waits())


def _queue_wait(frames: Sequence[StackFrame], has_device: bool) -> _Vote | None:
    """A wait on a queue or pipe of Python's own library: what a thread that trains takes from there is its data, unless the function
    that asks is one of an exchange between ranks, or serves commands."""
    index = next(
        (
            index
            for index, frame in enumerate(frames)
            if is_user_frame(frame) or waits_at_queue(frame.name, frame.short_filename)
        ),
        None,
    )
    if index is None or is_user_frame(frames[index]):
        return None
    user = next((frame for frame in frames[index + 1 :] if is_user_frame(frame)), None)
    if user is None:
        return None
    found = _rule("inner", user, has_device)
    if found is not None and rules("inner")[found].phase == "collective":
        return _Vote("collective", _DOES, user)
    if words(short_name(user.name)) & concept("exchange", "exchanging", "ask", "value", "settings", "served"):
        return None
    return _Vote("data", _DOES, user)
