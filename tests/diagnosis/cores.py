"""The machine's cores, handed out so that jobs run side by side only as far as it can feed them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock

STARTING = 0.5
"""Importing torch computes, however lightly the job then runs; half of the time it waits for files and for other processes."""


class Cores:
    """All cores of this machine, or so many, shared by threads."""

    def __init__(self, cores: float | None = None) -> None:
        self._all = self._free = float(os.cpu_count() or 1) if cores is None else cores
        self._changed = Condition()
        self._door = Lock()

    def take(self, cores: float) -> float:
        """Wait until so many are free; how many were taken (no more than there are)."""
        taken = min(cores, self._all)
        with self._door, self._changed:  # who needs many cores is not overtaken by those who need few
            self._changed.wait_for(lambda: self._free >= taken)
            self._free -= taken
        return taken

    @contextmanager
    def held(self, starting: float, running: float) -> Iterator[Callable[[], None]]:
        """Wait for what a job needs while it starts; call what is yielded once it needs only what it needs while it runs."""
        held = self.take(max(starting, running))

        def settle() -> None:
            nonlocal held
            self.give(held - min(held, running))
            held = min(held, running)

        try:
            yield settle
        finally:
            self.give(held)

    def give(self, cores: float) -> None:
        """Hand back."""
        with self._changed:
            self._free += cores
            self._changed.notify_all()
