"""Files with some of their bytes replaced."""

from __future__ import annotations

import random


def damaged(whole: bytes, dice: random.Random) -> bytes:
    """Up to eight stretches of noise in it."""
    spoilt = bytearray(whole)
    for _ in range(dice.randint(1, 8)):
        noise = dice.randbytes(dice.choice((1, 4, 200)))
        start = dice.randrange(len(whole) - len(noise))
        spoilt[start : start + len(noise)] = noise
    return bytes(spoilt)
