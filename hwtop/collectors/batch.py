"""Do something for many keys, any of which may block for ever, with one thread as long as none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from hwtop.collectors.abandon import Abandonable

K = TypeVar("K", bound=Hashable)

_SLICE_S = 0.05
"""How long one key may hold up the others by default; a read of /proc takes 0.05 ms."""
_LONGEST_REASON = 200


class Batch(Generic[K]):
    """Calls `function` for key after key in a thread; a key that blocks keeps its thread, and the rest goes on in another."""

    def __init__(
        self, name: str, function: Callable[[K], None], now: Callable[[], float], slice_s: float = _SLICE_S
    ) -> None:
        """`function` leaves its result where its caller finds it; a key whose call raises is a reason, and the others go on.
        `slice_s`: how long one key may take.
        """
        self._name = name
        self._function = function
        self._now = now
        self._slice_s = slice_s
        self._stuck: dict[K, _Run[K]] = {}

    def run(self, keys: Iterable[K], deadline_s: float) -> dict[K, str]:
        """Work through `keys`; those that failed or were not done within `deadline_s`, with the reason.

        Keys still out are not tried again.
        """
        self._stuck = {key: run for key, run in self._stuck.items() if not run.is_over()}
        open_keys = deque(key for key in keys if key not in self._stuck)
        end_s = self._now() + deadline_s
        failed: dict[K, str] = {}
        while open_keys:
            left_s = end_s - self._now()
            if left_s <= 0:
                break
            run = _Run(self._name, open_keys, self._function, self._now, failed)
            run.wait(left_s, self._slice_s)
            if run.is_over():
                continue
            key, open_keys = run.leave()
            if key is not None:
                self._stuck[key] = run
        late = dict.fromkeys(open_keys, "not read yet: others took too long")
        return failed | late | {key: run.reason() for key, run in self._stuck.items()}


class _Run(Generic[K]):
    """One thread on its way through the keys."""

    def __init__(
        self,
        name: str,
        keys: deque[K],
        function: Callable[[K], None],
        now: Callable[[], float],
        failed: dict[K, str],
    ) -> None:
        self._keys = keys
        self._failed = failed
        self._function = function
        self._call: Abandonable[None] = Abandonable(name, self._work, now)
        self._current: K | None = None
        self._is_over = False

    def wait(self, deadline_s: float, slice_s: float) -> None:
        """Until all keys are done, `deadline_s` have passed, or one key has taken longer than its slice."""
        waited_s = 0.0
        while not self._is_over and waited_s < deadline_s:
            current, left = self._current, len(self._keys)
            try:
                self._call.poll(min(slice_s, deadline_s - waited_s))
                self._is_over = True
            except TimeoutError:
                waited_s += slice_s
                if (current, left) == (self._current, len(self._keys)) and current is not None:
                    return

    def is_over(self) -> bool:
        """Whether the thread has ended."""
        if not self._is_over:
            try:
                self._call.poll(0)
                self._is_over = True
            except TimeoutError:
                return False
        return True

    def leave(self) -> tuple[K | None, deque[K]]:
        """Abandon the thread: the key it is at, and the keys it shall not touch any more."""
        rest, self._keys = self._keys, deque()
        return self._current, rest

    def reason(self) -> str:
        return f"not answering for {self._call.out_for_s():.0f} s"

    def _work(self) -> None:
        while self._keys:
            try:
                self._current = self._keys.popleft()
            except IndexError:  # abandoned between the two lines
                return
            try:
                self._function(self._current)
            except Exception as error:  # whatever one item holds, the others are read
                self._failed[self._current] = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
            self._current = None
