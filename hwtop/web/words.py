"""Words: messages between a page and hwtop. JSON, one object per message."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from hwtop.ui.browser.sheet import Row
from hwtop.ui.browser.tab import MouseAct

LONGEST_BYTES = 4096
"""Of a message from a page; the longest that occurs is a pasted filter."""

Columns = Annotated[int, Meta(ge=1, le=600)]
Rows = Annotated[int, Meta(ge=1, le=250)]
Place = Annotated[int, Meta(ge=0, le=600)]


class Size(Struct, frozen=True, tag="size", forbid_unknown_fields=True):
    """The window has so many cells. The first message of every page."""

    width: Columns
    height: Rows


class Key(Struct, frozen=True, tag="key", forbid_unknown_fields=True):
    """A key, by the browser's name."""

    key: Annotated[str, Meta(max_length=32)]
    shift: bool = False
    ctrl: bool = False


class Paste(Struct, frozen=True, tag="paste", forbid_unknown_fields=True):
    """Text from the clipboard."""

    text: Annotated[str, Meta(max_length=1000)]


class Mouse(Struct, frozen=True, tag="mouse", forbid_unknown_fields=True):
    """A mouse event at a cell."""

    act: MouseAct
    x: Place
    y: Place
    button: Annotated[int, Meta(ge=0, le=3)] = 0


class Sight(Struct, frozen=True, tag="sight", forbid_unknown_fields=True):
    """Whether the tab is visible: in the background only its title is updated."""

    seen: bool


PageMessage = Size | Key | Paste | Mouse | Sight


class Picture(Struct, frozen=True, omit_defaults=True):
    """What a page has to change."""

    rows: list[Row] = []
    size: tuple[int, int] | None = None
    """Cells across and down, when they change."""
    ground: tuple[str, str] | None = None
    """Colours of the page and of plain text, when they change."""
    title: str | None = None
    copy: str | None = None
    """For the clipboard."""


_DECODER: msgspec.json.Decoder[PageMessage] = msgspec.json.Decoder(PageMessage)


def decoded(message: str) -> PageMessage | None:
    """The message of a page; None if it is not valid."""
    try:
        return _DECODER.decode(message)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def encoded(picture: Picture) -> str:
    """For the page."""
    return msgspec.json.encode(picture).decode()
