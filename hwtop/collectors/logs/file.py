"""Log file: whole files and streams, block by block in bounded memory, as `hwtop scan` reads them."""

from __future__ import annotations

import codecs
import gzip
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from hwtop.errors import UsageError
from hwtop.job.log.block import LONGEST_CHARS, LogBlock, block_of
from hwtop.job.log.wrapping import Unwrap, unwrapping

_BLOCK_BYTES = 1 << 20
_LONGEST_BYTES = 4 * LONGEST_CHARS
"""Kept of a line without an end, whatever its encoding."""
_BURST_S = 0.05
"""What a program writes at once comes through a pipe in pieces, all of them within this (engineering default)."""
_GZIP = b"\x1f\x8b"
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"PK\x03\x04": "unzip -p"}
_TEXT_CONTROLS = frozenset(b"\x00\x07\b\t\n\f\r\x1b")
"""NUL too: a log that was truncated while its writer went on begins with a hole."""


def check_file(path: str) -> None:
    """Find out before anything is printed whether `read_file` can read the file.

    Raises:
        UsageError: no such file, a directory, no permission, packed otherwise, or no text.
    """
    if path == "-" or not _is_regular(path):
        return
    with _telling(path), _open(path) as file:
        _refuse_binary(_read(file), path)


def read_file(path: str) -> Iterator[LogBlock]:
    """The lines of a file, plain or gzip, or of standard input for "-", about a megabyte at a time.

    Raises:
        UsageError: as `check_file`; or the file cannot be read to its end.
    """
    if path == "-":
        with _telling(path):
            yield from _blocks(_unpacked(sys.stdin.buffer), path)
        return
    with _telling(path), _open(path) as file:
        yield from _blocks(file, path)


@contextmanager
def _telling(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: {reason}: give a log file that you may read, or - for standard input") from error


def _is_regular(path: str) -> bool:
    """False for a pipe such as <(command): reading it twice is not possible."""
    with _telling(path):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path} is a directory: give its files, e.g. {path.rstrip('/')}/*.log")
        return stat.S_ISREG(mode)


def _open(path: str) -> BinaryIO:
    return _unpacked(open(path, "rb"))  # the caller closes it


def _unpacked(file: BinaryIO) -> BinaryIO:
    if _head(file).startswith(_GZIP):
        return gzip.GzipFile(fileobj=file, mode="rb")  # type: ignore[return-value]
    return file


def _head(file: BinaryIO) -> bytes:
    """The first bytes without moving on; empty for what cannot be peeked at."""
    peek = getattr(file, "peek", None)
    head: bytes = peek(16)[:16] if peek is not None else b""
    return head


def _blocks(file: BinaryIO, path: str) -> Iterator[LogBlock]:
    """Whole lines; what follows the last line end waits for the next read. An endless line comes in parts at its carriage
    returns, and without any only its start comes."""
    waiting, line_no, lost_bytes, unwrap = b"", 1, 0, None
    for raw in _texts(file, path):
        waiting += raw
        end = waiting.rfind(b"\n") + 1
        if not end and len(waiting) > _LONGEST_BYTES:
            end = waiting.rfind(b"\r") + 1
            if not end:
                lost_bytes += len(waiting) - _LONGEST_BYTES
                waiting = waiting[:_LONGEST_BYTES]
        if end:
            if line_no == 1:
                unwrap = unwrapping(waiting.partition(b"\n")[0].decode("utf-8", "replace"))
            block = block_of(path, line_no, _bare(waiting[:end], unwrap), lost_bytes)
            line_no, lost_bytes, waiting = line_no + block.data.count(b"\n"), 0, waiting[end:]
            yield block
    if waiting:
        yield block_of(path, line_no, _bare(waiting, unwrap), lost_bytes)


def _texts(file: BinaryIO, path: str) -> Iterator[bytes]:
    """What is read, as ASCII where it matters: UTF-16 (PowerShell's >) is decoded, byte order marks and NULs are gone."""
    decoder: codecs.IncrementalDecoder | None = None
    is_first = True
    while raw := _read(file):
        if is_first:
            is_first = False
            _refuse_binary(raw, path)
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                decoder = codecs.getincrementaldecoder("utf-16")("replace")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        text = decoder.decode(raw).encode("utf-8", "replace") if decoder else raw
        yield text.replace(b"\0", b"") if b"\0" in text else text


def _bare(raw: bytes, unwrap: Unwrap | None) -> bytes:
    """Without what a container runtime puts around each line; a line that goes on leaves an empty one, so that all keep
    their numbers."""
    if unwrap is None:
        return raw
    lines = (unwrap(line.decode("utf-8", "replace")) or "" for line in raw.removesuffix(b"\n").split(b"\n"))
    return "\n".join([line.replace("\n", " ") for line in lines]).encode("utf-8", "replace") + b"\n"


def _read(file: BinaryIO) -> bytes:
    """What there is: a live pipe gives its lines as they come, those of one burst together."""
    read1 = getattr(file, "read1", file.read)
    block = more = read1(_BLOCK_BYTES)
    until_s = time.monotonic() + _BURST_S
    while more and len(block) < _BLOCK_BYTES and select.select([file], [], [], max(0.0, until_s - time.monotonic()))[0]:
        more = read1(_BLOCK_BYTES - len(block))
        block += more
    return block


def _refuse_binary(block: bytes, path: str) -> None:
    for magic, tool in _PACKED.items():
        if block.startswith(magic):
            unpack = tool if " " in tool else f"{tool} -dc"
            raise UsageError(f"{path} is compressed: {unpack} {path} | hwtop scan -")
    sample = block[:8192]
    strange = sum(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in sample)
    broken = sample.decode("utf-8", "replace").count("�")
    if strange * 10 > len(sample) or broken * 4 > len(sample) or block.startswith(b"\x7fELF"):
        raise UsageError(f"{path} is not a text file: give a log file, or - for standard input")
