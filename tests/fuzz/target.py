"""Target: one kind of input, with samples of it and what must hold of any."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.fuzz.mutation import mutated

Samples = Mapping[str, Sequence[bytes]]
"""By variant: a format, or a file of a tree."""


@dataclass(frozen=True)
class Item:
    """One input. As a file of the corpus: the variant in the first line, then the bytes."""

    variant: str
    data: bytes

    @property
    def packed(self) -> bytes:
        return self.variant.encode() + b"\n" + self.data

    @staticmethod
    def unpacked(content: bytes) -> Item:
        variant, _, data = content.partition(b"\n")
        return Item(variant.decode(), data)


@dataclass(frozen=True)
class Target:
    """What is read. `check` raises where a claim does not hold; it may write to the folder it is given."""

    name: str
    load: Callable[[], Samples]
    check: Callable[[str, bytes, Path], None]

    @cached_property
    def samples(self) -> Samples:
        return self.load()

    def item(self, dice: random.Random) -> Item:
        """A spoilt sample."""
        variant = dice.choice(sorted(self.samples))
        return Item(variant, mutated(dice, self.samples[variant]))
