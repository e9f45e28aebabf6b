"""Types of values that flags take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from hwtop.seconds import seconds

if TYPE_CHECKING:
    from click import ParamType as ParamType
else:

    class ParamType(click.ParamType):
        """click's, which is generic only in its newest versions (8.5, not 8.3)."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


SMALLEST, LARGEST = (20, 5), (500, 200)
"""Columns and rows of a picture."""


class Seconds(ParamType[float]):
    """A duration: 20, 20s, 500ms, 2m."""

    name = "SECONDS"

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds, between the bounds."""
        if isinstance(value, (int, float)):
            return float(value)
        found = seconds(str(value))
        if found is None:
            examples = "20s, 500ms or 2m" if self.most >= 120 else "20s or 500ms"
            self.fail(f"{value!r} is not a valid time: use e.g. {examples}", param, ctx)
        if not self.least <= found <= self.most:
            self.fail(f"{value} is out of range: use {self.least:g} to {self.most:g} seconds", param, ctx)
        return found


class HiddenList(ParamType[tuple[str, ...]]):
    """hosts, users and paths, separated by commas."""

    name = "LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Those that are named."""
        from hwtop.job.secrets import HIDDEN

        if isinstance(value, tuple):
            return value
        found = tuple(part.strip() for part in str(value).split(","))
        if not set(found) <= set(HIDDEN):
            self.fail(f"{value!r} is not a list of what to mask: use e.g. {','.join(HIDDEN)}", param, ctx)
        return found


class Bytes(ParamType[int]):
    """A size in powers of 1024: 200M, 2G."""

    name = "BYTES"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes, at least so many."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d{1,12})\s*([kmgt]?)b?", str(value).strip(), re.ASCII | re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size: use e.g. 200M or 2G", param, ctx)
        size = int(match[1]) << 10 * " kmgt".index(match[2].lower() or " ")
        if size < self.least:
            self.fail(f"{value} is too small: use at least {self.least >> 20}M", param, ctx)
        return size


class Size(ParamType[tuple[int, int]]):
    """Columns and rows: 120x40."""

    name = "COLUMNSxROWS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """(columns, rows), from `SMALLEST` to `LARGEST`."""
        if isinstance(value, tuple):
            return value
        columns, _, rows = str(value).lower().partition("x")
        if not (columns.isascii() and columns.isdigit() and rows.isascii() and rows.isdigit()):
            self.fail(f"{value!r} is not a size: use e.g. 120x40", param, ctx)
        size = int(columns), int(rows)
        if not all(low <= given <= high for low, given, high in zip(SMALLEST, size, LARGEST, strict=True)):
            self.fail(f"{value} is out of range: use 20x5 to 500x200", param, ctx)
        return size


class Numbers(ParamType[tuple[int, ...]]):
    """Numbers with commas and ranges: 0,1 or 0-3."""

    name = "LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Sorted, without duplicates."""
        if isinstance(value, tuple):
            return value
        numbers: set[int] = set()
        for part in str(value).split(","):
            match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part.strip())
            if match is None or int(match[2] or match[1]) < int(match[1]):
                self.fail(f"{value!r} is not a list of numbers: use e.g. 0,1 or 0-3", param, ctx)
            numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
        return tuple(sorted(numbers))
