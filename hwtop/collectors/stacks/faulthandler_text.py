"""The text that Python's faulthandler writes, as stacks. Pure.

Format: Python/traceback.c, `_Py_DumpTracebackThreads` (3.10 to 3.14): newest thread first, so the main thread is the last one;
function names without their class; at most 100 frames a thread; names and paths of more than 500 characters are cut;
everything beyond ASCII is escaped.
"""

from __future__ import annotations

import re

from hwtop.job.stacks.short_names import ShortNames
from hwtop.job.whole_number import whole_number
from hwtop.model.stack import StackFrame, ThreadStack

_THREAD = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+(?: \[(?P<name>.*)\])? \(most recent call first\):")
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<name>.*)')
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def parse_faulthandler(text: str, names: ShortNames) -> tuple[ThreadStack, ...]:
    """All threads that are in Python code, the main thread first. The state of a thread and the GIL are not reported."""
    threads: list[tuple[str | None, list[StackFrame]]] = []
    for line in text.splitlines():
        head = _THREAD.fullmatch(line)
        frame = _FRAME.fullmatch(line)
        if head is not None:
            threads.append((head["name"], []))
        elif frame is not None and threads:
            threads[-1][1].append(_frame(frame, names))
    found = [_thread(name, frames) for name, frames in threads if frames]
    return (*found[-1:], *found[:-1])


def _thread(name: str | None, frames: list[StackFrame]) -> ThreadStack:
    return ThreadStack(name=name, os_thread_id=None, is_active=False, owns_gil=False, frames=tuple(frames))


def _frame(found: re.Match[str], names: ShortNames) -> StackFrame:
    filename = _unescaped(found["file"])
    return StackFrame(
        name=_unescaped(found["name"]),
        filename=filename,
        short_filename=names.of(filename),
        line=whole_number(found["line"]) or 0,
    )


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), text)
