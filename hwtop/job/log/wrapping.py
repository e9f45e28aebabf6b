"""Log wrapping: what a container runtime puts around each line of its log files, and how to take it off.

Formats: Docker's json-file driver (`{"log":"text\\n","stream":"stderr","time":"..."}`, docs.docker.com "JSON File logging
driver") and the CRI log format of containerd, CRI-O and podman's k8s-file driver (`TIME stdout F text`; P marks a part of a line
that goes on, kubernetes/design-proposals-archive "kubelet-cri-logging").
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hwtop.lazy_regex import lazy_regex

_CRI = lazy_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP])(?::[\w:]*)? ?")
_LONGEST_CHARS = 1 << 20
"""Of a line that came in parts; runtimes cut at 16 KiB."""

Unwrap = Callable[[str], "str | None"]
"""The text of one line of the file; None while the line it belongs to goes on."""


class _Docker(msgspec.Struct):
    log: str
    stream: str
    time: str


def unwrapping(first_line: str) -> Unwrap | None:
    """How to unwrap the lines of a file that begins (or goes on) with this one; None where they are bare."""
    if first_line.startswith("{") and _docker(first_line) is not None:
        return _Parts(_docker).unwrap
    if _CRI.match(first_line):
        return _Parts(_cri).unwrap
    return None


def _docker(line: str) -> tuple[str, str, bool] | None:
    try:
        entry = msgspec.json.decode(line, type=_Docker)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return entry.stream, entry.log.removesuffix("\n"), not entry.log.endswith("\n")


def _cri(line: str) -> tuple[str, str, bool] | None:
    found = _CRI.match(line)
    return None if found is None else (found[1], line[found.end() :], found[2] == "P")


class _Parts:
    """Puts together the lines of each stream that the runtime has cut."""

    def __init__(self, read: Callable[[str], tuple[str, str, bool] | None]) -> None:
        self._read = read
        self._begun: dict[str, str] = {}

    def unwrap(self, line: str) -> str | None:
        """A line that is not in the format is told as it is."""
        entry = self._read(line)
        if entry is None:
            return line or None
        stream, text, goes_on = entry
        text = self._begun.pop(stream, "") + text
        if goes_on and len(text) < _LONGEST_CHARS:
            self._begun[stream] = text
            return None
        return text
