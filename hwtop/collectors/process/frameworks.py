"""Which training library a process has loaded, by the shared objects in its memory map: what a process is that no launcher started and
whose environment has no rank."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hwtop.collectors.process.files import read_bytes
from hwtop.collectors.process.roster import SCAN_LIMIT, Roster
from hwtop.job.launch.launcher import is_python
from hwtop.model.process import ProcessInfo

_OBJECTS = {
    "torch": rb"libtorch\w*\.so|torch/_C\.",
    "jax": rb"jaxlib/",
    "tensorflow": rb"libtensorflow\w*\.so|tensorflow/python/",
    "paddle": rb"paddle/\w+/libpaddle",
    "xgboost": rb"libxgboost\.so",
    "lightgbm": rb"lib_lightgbm\.so",
    "sklearn": rb"sklearn/",
}
"""Where the wheels of these libraries have their shared objects. Source: their wheels on PyPI."""
_NAMED = re.compile(b"|".join(b"(?P<%s>/(?:%s))" % (name.encode(), path) for name, path in _OBJECTS.items()))
_READ_PROCESSES = 8
"""Of one job: what loads a library is the trainer or near it. Engineering default."""
_LOADED_BYTES = 1 << 20
"""A process that holds less than so much more or less than when it was read has loaded no library since. Engineering default."""
_IMPORTED_S = 300.0
"""A process that is older and has none of them loaded is not read again. Engineering default."""


class Frameworks:
    """Remembers what each process has loaded: while its map is read, the process can map nothing itself."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._known: dict[tuple[int, int], str | None] = {}
        self._held: dict[tuple[int, int], int] = {}
        """Memory of those that had loaded nothing when they were read."""

    def of(self, tree: Sequence[ProcessInfo], up_s: float | None) -> str | None:
        """The first of the libraries above that a Python process of this tree has loaded; None where none has, or no map may be read."""
        found = {self._of_one(each, up_s) for each in tree[:_READ_PROCESSES] if is_python(each)}
        return next((name for name in _OBJECTS if name in found), None)

    def _of_one(self, process: ProcessInfo, up_s: float | None) -> str | None:
        key = (process.pid, process.start_ticks)
        if key in self._known or not self._may_have_loaded(key, process.rss_bytes):
            return self._known.get(key)
        try:
            mapped = read_bytes(f"{self._roster.proc}/{process.pid}/maps")
        except OSError:
            return None
        seen = {match.lastgroup for match in _NAMED.finditer(mapped)}
        name = next((each for each in _OBJECTS if each in seen), None)
        if process.rss_bytes is not None:
            self._held[key] = process.rss_bytes
        if name or (up_s is not None and up_s - process.start_ticks / self._roster.ticks_per_s > _IMPORTED_S):
            self._known[key] = name
            self._held.pop(key, None)
        for kept in (self._known, self._held):
            while len(kept) > SCAN_LIMIT:
                del kept[next(iter(kept))]
        return name

    def _may_have_loaded(self, key: tuple[int, int], held: int | None) -> bool:
        before = self._held.get(key)
        return before is None or held is None or abs(held - before) >= _LOADED_BYTES
