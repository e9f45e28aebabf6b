"""What a rank's main thread is in, told from its stack. Pure; the rules are data (`hwtop.job.stacks.phase_rules`).

Two steps. `OUTER` rules come first, in order: such a frame anywhere on the stack names the phase, whatever is called
below it (a data set may call torch.load, the compiler may run a module's forward). Then the frame nearest the leaf that
any `INNER` rule knows decides (an all_reduce inside save_checkpoint is a collective; a backward inside Lightning's
optimizer closure is a backward). A call into C leaves no frame: there the text of the user's line decides, where it is known.
Where no name tells, what the line does with files and the network does (`hwtop.job.stacks.io_kind`); that a step's function or a
module's forward is around it does not hide it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.stacks.code_line import pauses, prints, waits_for_device, waits_on_handle
from hwtop.job.stacks.frames import is_user_frame, own_frames, short_name
from hwtop.job.stacks.io_kind import traffic_phase
from hwtop.job.stacks.name_words import words
from hwtop.job.stacks.phase_rules import COLLECTIVES, FORWARD, INNER, OUTER, PREPARING, QUEUE_WAITS, QUEUE_WORDS, Rule
from hwtop.model.rank import Phase
from hwtop.model.stack import StackFrame, ThreadStack

_COMPUTING: frozenset[Phase] = frozenset({"backward", "sync", "optimizer"})


def is_waiting(stack: ThreadStack, phase: Phase) -> bool:
    """It waits for other ranks or for the device: in a collective, or asleep where it should compute.

    DDP over gloo waits for its all_reduce inside the C++ of `_engine_run_backward`, so no collective is on the stack.
    """
    if phase == "collective":
        return True
    return phase in _COMPUTING and not stack.is_active and not _pauses(own_frames(stack))


def _pauses(frames: Sequence[StackFrame]) -> bool:
    """The innermost line is the user's own, and sleeps for a time: a hook that backward or a step calls."""
    return bool(frames) and is_user_frame(frames[0]) and pauses(frames[0].code)


def phase_and_frame(stack: ThreadStack, *, has_device: bool = False) -> tuple[Phase, StackFrame | None]:
    """The phase, and the frame that told it (None for "other").

    `has_device`: the process computes on an accelerator, so a line that reads a tensor's value back waits for it.
    """
    frames = own_frames(stack)
    found = (
        _importing(frames)
        or _first(OUTER, frames)
        or _queue_wait(frames)
        or _by_code(frames, has_device)
        or _innermost(frames)
    )
    if found is not None and found[0] != "forward":
        return found
    found = found or _first(FORWARD, frames)
    prepares = _first(PREPARING, frames)
    return (None if prepares else traffic_phase(frames)) or found or prepares or ("other", None)


def _by_code(frames: Sequence[StackFrame], has_device: bool) -> tuple[Phase, StackFrame] | None:
    """A user's line that is itself the innermost: it computes in Python, or it is in C."""
    if not frames or frames[0].code is None:
        return None
    if waits_on_handle(frames[0].code):
        return "collective", frames[0]
    if has_device and waits_for_device(frames[0].code):
        return "sync", frames[0]
    return ("logging", frames[0]) if prints(frames[0].code) else None


def _importing(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """An import, unless a function of the user runs inside it: some launchers run the training while they import it."""
    for frame in frames:
        name = short_name(frame.name)
        if name == "_find_and_load" and frame.filename == "<frozen importlib._bootstrap>":
            return "startup", frame
        if name != "<module>" and is_user_frame(frame):
            return None
    return None


def _first(rules: Sequence[Rule], frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """The phase of the first rule that any frame fits, and the frame nearest the leaf that fits it."""
    fitting = [
        (found, depth) for depth, frame in enumerate(frames) if (found := _first_fitting(rules, frame)) is not None
    ]
    if not fitting:
        return None
    found, depth = min(fitting)
    return rules[found].phase, frames[depth]


def _innermost(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    for frame in frames:
        found = _first_fitting(INNER, frame)
        if found is not None:
            return INNER[found].phase, frame
    return None


_known: dict[tuple[int, str, str, str], int | None] = {}
"""What `_first_fitting` has found: a job's code has few functions, and they come again with every sample."""
_MOST_KNOWN = 50_000


def _first_fitting(rules: Sequence[Rule], frame: StackFrame) -> int | None:
    """Index of the first of `rules` (one of the tables of this module) that the function of `frame` fits."""
    key = (id(rules), frame.name, frame.filename, frame.short_filename)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = next((index for index, rule in enumerate(rules) if _fits(rule, frame)), None)
    return _known[key]


def _queue_wait(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """A wait on a queue or pipe, called by a user function whose name speaks of data."""
    waits = _queue_wait_index(frames)
    if waits is None:
        return None
    for frame in frames[waits + 1 :]:
        if is_user_frame(frame):
            speaks = bool(words(frame.name) & QUEUE_WORDS)
            is_collective = short_name(frame.name) in COLLECTIVES
            if speaks or is_collective:
                return ("collective" if is_collective else "data"), frame
    return None


def _queue_wait_index(frames: Sequence[StackFrame]) -> int | None:
    for index, frame in enumerate(frames):
        if is_user_frame(frame):
            return None
        name = short_name(frame.name)
        if any(frame.short_filename == file and name in names for file, names in QUEUE_WAITS):
            return index
    return None


def _fits(rule: Rule, frame: StackFrame) -> bool:
    name = short_name(frame.name)
    if rule.is_users and not is_user_frame(frame):
        return False
    if rule.files and not any(_is_in(frame.short_filename, file) for file in rule.files):
        return False
    if rule.user_name is not None:
        return is_user_frame(frame) and rule.user_name(words(name))
    if rule.names:
        return name in rule.names
    return name != "<module>"


def _is_in(short_filename: str, file: str) -> bool:
    return file[1:] in short_filename if file.startswith("*") else short_filename.startswith(file)
