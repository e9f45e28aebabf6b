"""Mutation: a sample with a few random changes, as a torn write, a foreign program or a hostile one would leave it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

MOST_BYTES = 1 << 16
_MOST_CHANGES = 4
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")
NUMBERS = (
    b"0",
    b"-1",
    b"-0.0",
    b"1e308",
    b"1e999",
    b"nan",
    b"inf",
    b"-inf",
    b"4294967296",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"9" * 40,
    b"9" * 400,
    b"9" * 5000,
    "²".encode(),
    "٣".encode(),
    b"1_000",
    b"0x1f",
    b"1.2.3",
    b"",
)
"""Beyond 32 and 64 bits, more digits than `int` takes (sys.get_int_max_str_digits), digits that `isdigit` takes and `int` does not."""
TEXTS = (
    b"\x00",
    b"\x1b[2J",
    b"\x1b]0;owned\x07",
    "\u202egnp.exe\u2066".encode(),
    "\x9b31m\x7f".encode(),
    b"\xff\xfe\x80",
    b"\xed\xa0\x80",
    "\ufeff数\u0301".encode(),
    b"\r\n",
    b"\r",
    b"\t",
    b'"',
    b"\\",
    b"{",
    b"[" * 2000,
    b"(",
    b")",
    b"%s%n",
    b",",
    b":",
    b"=",
    b" ",
    b"/../",
    b"'",
)
"""Escape sequences, marks that reverse text, what is no UTF-8, quotes and brackets."""


def mutated(dice: random.Random, samples: Sequence[bytes]) -> bytes:
    """One of `samples`, changed in one to four places; at most 64 KiB."""
    item = dice.choice(samples)
    for _ in range(dice.randint(1, _MOST_CHANGES)):
        item = dice.choice(_CHANGES)(dice, item, samples)[:MOST_BYTES]
    return item


def _place(dice: random.Random, item: bytes) -> tuple[int, int]:
    start = dice.randint(0, len(item))
    return start, min(len(item), start + dice.choice((1, 1, 2, 8, 64, 1024)))


def _cut(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    return item[: dice.randint(0, len(item))]


def _without(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    start, end = _place(dice, item)
    return item[:start] + item[end:]


def _again(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    start, end = _place(dice, item)
    return item[:start] + item[start:end] * dice.choice((2, 3, 30, 1000)) + item[end:]


def _flipped(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    start, _ = _place(dice, item)
    return item[:start] + bytes([dice.randrange(256)]) + item[start + 1 :]


def _text(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    start, end = _place(dice, item)
    return item[:start] + dice.choice(TEXTS) + item[dice.choice((start, end)) :]


def _spliced(dice: random.Random, item: bytes, samples: Sequence[bytes]) -> bytes:
    other = dice.choice(samples)
    start, end = _place(dice, other)
    at = dice.randint(0, len(item))
    return item[:at] + dice.choice((other[start:end], other[start:])) + item[dice.choice((at, len(item))) :]


def _number(dice: random.Random, item: bytes, _samples: Sequence[bytes]) -> bytes:
    return _replaced(dice, item, _NUMBER, dice.choice(NUMBERS))


def _word(dice: random.Random, item: bytes, samples: Sequence[bytes]) -> bytes:
    words = _WORD.findall(dice.choice(samples)) or [b"x"]
    return _replaced(dice, item, _WORD, dice.choice(words))


def _replaced(dice: random.Random, item: bytes, what: re.Pattern[bytes], by: bytes) -> bytes:
    found = list(what.finditer(item))
    if not found:
        return item + by
    chosen = dice.choice(found)
    return item[: chosen.start()] + by + item[chosen.end() :]


_CHANGES = (_cut, _without, _again, _flipped, _text, _spliced, _number, _number, _number, _word)
