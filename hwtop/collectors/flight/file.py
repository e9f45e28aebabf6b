"""Bytes of a Flight Recorder dump -> FlightDump. Pickles are read with all that could run code, or never end, switched off."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn

import msgspec
from msgspec.structs import replace

from hwtop.job.flight.dump import flight_dump
from hwtop.model.reported.flight import FlightDump

MOST_BYTES = 256 << 20
"""2000 entries with stacks take a few MiB, 20,000 with C++ stacks some tens."""
RANK = re.compile(r"^(?P<prefix>.*?)(?P<rank>\d{1,6})(?P<suffix>\.(?:json|pkl|pickle))?$")
"""Torch names its files prefix + rank; users who dump by hand often add an extension."""
_MOST_VALUES = 20_000_000
"""In all, each counted as often as it is reached: a pickle may refer to one value from many places. 20,000 entries with 30 frames
hold 2 million."""
_MOST_DEPTH = 16
"""A file name stands in a frame of the frames of an entry of the entries: 6."""
_PLAIN = (
    *(pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.POP, pickle.POP_MARK),
    *(pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.INT, pickle.BININT, pickle.BININT1, pickle.BININT2),
    *(pickle.LONG, pickle.LONG1, pickle.LONG4, pickle.FLOAT, pickle.BINFLOAT),
    *(pickle.STRING, pickle.BINSTRING, pickle.SHORT_BINSTRING),
    *(pickle.UNICODE, pickle.BINUNICODE, pickle.SHORT_BINUNICODE, pickle.BINUNICODE8),
    *(pickle.EMPTY_LIST, pickle.LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT, pickle.EMPTY_TUPLE),
    *(pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
    *(pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE, pickle.GET, pickle.BINGET, pickle.LONG_BINGET),
    *(pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.PERSID, pickle.BINPERSID),  # all refused, by name
)
"""No sets, no bytes of a length that is only claimed, nothing that calls."""


class _Plain(pickle._Unpickler):  # noqa: SLF001 - the C one takes gigabytes when a broken file asks for a large memo
    """Numbers, strings, lists, dicts and tuples only: what torch writes (torch/csrc/jit/serialization/pickler.cpp)."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no Flight Recorder dump holds")

    def persistent_load(self, pid: object) -> NoReturn:  # noqa: ARG002 - pickle's name
        raise pickle.UnpicklingError("it asks for an outside object, which no Flight Recorder dump holds")

    def _load_pairs(self) -> None:
        pairs = self.pop_mark()  # type: ignore[attr-defined]
        self._put(self.stack[-1], pairs)  # type: ignore[attr-defined]

    def _load_pair(self) -> None:
        value = self.stack.pop()  # type: ignore[attr-defined]
        key = self.stack.pop()  # type: ignore[attr-defined]
        self._put(self.stack[-1], [key, value])  # type: ignore[attr-defined]

    def _load_dict(self) -> None:
        found: dict[object, object] = {}
        self._put(found, self.pop_mark())  # type: ignore[attr-defined]
        self.append(found)  # type: ignore[attr-defined]

    def _put(self, target: object, pairs: list[object]) -> None:
        """Keys are texts and numbers: the hash of a tuple whose parts are shared takes for ever, and cannot be interrupted."""
        if type(target) is not dict or not all(isinstance(key, (str, int)) for key in pairs[::2]):
            raise pickle.UnpicklingError("a key is neither a text nor a number")
        target.update(zip(pairs[::2], pairs[1::2], strict=True))

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {  # pickle's name
        **{code[0]: pickle._Unpickler.dispatch[code[0]] for code in _PLAIN},  # noqa: SLF001
        pickle.SETITEMS[0]: _load_pairs,
        pickle.SETITEM[0]: _load_pair,
        pickle.DICT[0]: _load_dict,
    }


def decode(data: bytes) -> object:
    """The document in a pickle or JSON text.

    Raises:
        ValueError: it is neither, broken, too large, too deep, or holds more than plain data.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
    if not data:
        raise ValueError("the file is empty: the process died before it had written its dump, or still writes")
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            document: object = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"broken JSON: {error}") from error
    else:
        document = _unpickled(data)
    _check_size(document)
    return document


def parse(
    data: bytes, *, rank: int | None, origin: str, at_s: float, taken_s: float | None, is_asked: bool = False
) -> FlightDump:
    """The dump in `data`, with the reason in `error` where it cannot be read."""
    try:
        document, error = decode(data), None
    except ValueError as refused:
        document, error = None, str(refused)[:300]
    dump = flight_dump(document, rank=rank, origin=origin, at_s=at_s, taken_s=taken_s, is_asked=is_asked)
    return dump if error is None else replace(dump, error=error)


def _unpickled(data: bytes) -> object:
    try:
        return _Plain(io.BytesIO(data)).load()
    except EOFError as error:
        raise ValueError("the pickle ends too early: it was cut off, or is still being written") from error
    except Exception as error:  # a broken pickle may raise anything at all
        raise ValueError(f"no readable pickle: {str(error) or type(error).__name__}") from error


def _check_size(document: object) -> None:
    """Raises ValueError where reading all of it would take too long. Takes time for each value once, however often it is reached."""
    sizes: dict[int, tuple[int, int]] = {}
    open_ids: set[int] = set()
    pending = [(document, False)]
    while pending:
        value, is_done = pending.pop()
        children = _children(value)
        if is_done:
            found = [sizes[id(child)] for child in children]
            size, depth = 1 + sum(size for size, _ in found), 1 + max((depth for _, depth in found), default=0)
            if size > _MOST_VALUES or depth > _MOST_DEPTH:
                raise ValueError("larger or deeper than any Flight Recorder dump")
            sizes[id(value)] = size, depth
            open_ids.discard(id(value))
        elif id(value) in open_ids:
            raise ValueError("it holds itself")
        elif id(value) not in sizes:
            if isinstance(value, int) and value.bit_length() > 64:
                raise ValueError("a number of more than 64 bits")
            open_ids.add(id(value))
            pending.append((value, True))
            pending.extend((child, False) for child in children)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()
