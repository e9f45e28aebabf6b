"""Calls under way: each in a daemon thread with a deadline, and those that sample stacks one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

from hwtop.errors import HwtopError, internal_error
from hwtop.mcp.protocol import INVALID_REQUEST, Id, ProtocolError, failure
from hwtop.model.frame import Frame

_MOST_CALLS = 8
"""Engineering default: an agent asks for a few things at once, and may wait for some jobs."""
_CLOSE_S = 1.0
"""To stop watching when the client is gone."""

Respond = Callable[[Mapping[str, Any]], None]
Report = Callable[[float, float, str], None]
"""Seconds watched, of how many, and the verdict."""


class CancelledError(Exception):
    """Nobody waits for the result."""


class Call:
    """One call of a tool."""

    def __init__(self, work: Callable[[Call], Mapping[str, Any]], *, most_s: float, takes_turn: bool) -> None:
        """`work` returns the result. `most_s`: how long it may take."""
        self.work, self.most_s, self.takes_turn = work, most_s, takes_turn
        self.is_running = self.is_cancelled = False
        self.respond: Respond = lambda _: None
        self.report: Report = lambda *_: None

    def follow(self, frames: Generator[Frame, None, None], most_s: float) -> Iterator[Frame]:
        """The frames, each reported to the client.

        Raises:
            CancelledError: the client does not want more of them.
        """
        with closing(frames):
            for frame in frames:
                if self.is_cancelled:
                    raise CancelledError
                self.report(round(frame.watched_s, 1), most_s, frame.verdict.text)
                yield frame


class Calls:
    """All calls that have no answer yet. Each is answered at most once: by its result, or at its deadline."""

    def __init__(self) -> None:
        """None."""
        self._calls: dict[Id, Call] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def begin(self, request: Id, call: Call) -> None:
        """Run it as soon as it is its turn. Returns at once.

        Raises:
            ProtocolError: one of this id is under way.
        """
        with self._lock:
            if request in self._calls:
                raise ProtocolError(INVALID_REQUEST, "a request of this id is under way")
            if len(self._calls) < _MOST_CALLS:
                self._calls[request] = call
                self._start_next()
                return
        call.respond(failure(f"{_MOST_CALLS} calls are under way: wait for one of them to end"))

    def cancel(self, request: Id) -> None:
        """Its result is not wanted any more."""
        self._end(request, self._calls.get(request), None)

    def close(self) -> None:
        """Cancel all, and let them stop watching."""
        for request in list(self._calls):
            self.cancel(request)
        threads = self._threads
        for thread in threads:
            thread.join(_CLOSE_S / len(threads))

    def _start_next(self) -> None:
        """The lock is held."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        for request, call in self._calls.items():
            is_taken = any(each.is_running and each.takes_turn for each in self._calls.values())
            if not call.is_running and not (call.takes_turn and is_taken):
                call.is_running = True
                self._threads.append(threading.Thread(target=self._run, args=(request, call), daemon=True))
                self._threads[-1].start()

    def _run(self, request: Id, call: Call) -> None:
        late = failure(f"no answer within {call.most_s:.0f} s: the machine does not answer, or is overloaded")
        timer = threading.Timer(call.most_s, self._end, (request, call, late))
        timer.daemon = True
        timer.start()
        result: Mapping[str, Any] | None
        try:
            result = call.work(call)
        except CancelledError:
            result = None
        except HwtopError as error:
            result = failure(str(error))
        except Exception as error:  # a mistake of hwtop must not end the server
            result = failure(internal_error(error))
        timer.cancel()
        self._end(request, call, result)

    def _end(self, request: Id, call: Call | None, result: Mapping[str, Any] | None) -> None:
        with self._lock:
            if call is None or self._calls.get(request) is not call:
                return
            del self._calls[request]
            call.is_cancelled = True
            self._start_next()
        if result is not None:
            call.respond(result)
