"""Private keys in logs: a key takes many lines (RFC 7468), of which only the first and the last tell that they are secret."""

from __future__ import annotations

from hwtop.lazy_regex import lazy_regex

_BEGIN = lazy_regex(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_END = lazy_regex(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_MOST_LINES = 200
"""Of one key; an RSA key of 16,384 bits takes 197. A line that only looks like the first one shall not hide the whole log."""


class PrivateKeys:
    """Given the lines of all logs of a job in order."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        """Log -> lines that may still be of its key."""

    def has(self, path: str, text: str) -> bool:
        """Whether this next line of a log is one of a key, but not its first."""
        left = self._left.get(path, 0)
        begin = _BEGIN.search(text)
        if _END.search(text, begin.end() if begin else 0):
            self._left[path] = 0
        elif begin or left:
            self._left[path] = _MOST_LINES if begin else left - 1
        return left > 0
