"""Bytes of a Flight Recorder dump -> FlightDump. Pickles are read with all that could run code switched off."""

from __future__ import annotations

import io
import pickle
import re
from typing import NoReturn

import msgspec
from msgspec.structs import replace

from hwtop.job.flight.dump import flight_dump
from hwtop.model.flight import FlightDump

MOST_BYTES = 256 << 20
"""2000 entries with stacks take a few MiB, 20,000 with C++ stacks some tens."""
RANK = re.compile(r"^(?P<prefix>.*?)(?P<rank>\d{1,6})(?P<suffix>\.(?:json|pkl|pickle))?$")
"""Torch names its files prefix + rank; users who dump by hand often add an extension."""


class _Plain(pickle._Unpickler):  # noqa: SLF001 - the C one takes gigabytes when a broken file asks for a large memo
    """Numbers, strings, lists, dicts and tuples only: what torch writes (torch/csrc/jit/serialization/pickler.cpp)."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no Flight Recorder dump holds")

    def persistent_load(self, pid: object) -> NoReturn:  # noqa: ARG002 - pickle's name
        raise pickle.UnpicklingError("it asks for an outside object, which no Flight Recorder dump holds")


def decode(data: bytes) -> object:
    """The document in a pickle or JSON text.

    Raises:
        ValueError: it is neither, broken, too large, or holds more than plain data.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
    if not data:
        raise ValueError("the file is empty: the process died before it had written its dump, or still writes")
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"broken JSON: {error}") from error
    try:
        return _Plain(io.BytesIO(data)).load()
    except EOFError as error:
        raise ValueError("the pickle ends too early: it was cut off, or is still being written") from error
    except Exception as error:  # a broken pickle may raise anything at all
        raise ValueError(f"no readable pickle: {str(error) or type(error).__name__}") from error


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
