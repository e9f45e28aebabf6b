"""Text of the machine that is made to break a screen: every row of every page keeps its width, no control reaches it."""

from __future__ import annotations

import unicodedata
from itertools import cycle
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hwtop.model.frame import Frame
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.view import View
from hwtop.ui.widgets.text import to_ascii
from tests import frames

HOSTILE = (
    "数据加载器进程" * 30,
    "👩‍👩‍👧‍👦🏳️‍🌈🚀" * 20,
    "\x1b[2J\x1b[31m\x1b]0;owned\x07\x9b31m" * 5,
    "שלום עולם \u202eevil\u202c مرحبا" * 9,
    "a\nb\r\nc\td\x00e\x7f\x08",
    "e\u0301\u0302\u0303" * 40 + "\u200b\u200d\ufeff",
    "/very/" + "long" * 200 + "/数.txt",
    "\ud800\udfff lone",
    "",
    " ",
    "한" + "\u1160" * 9 + "ｗｉｄｅ",
)
_KEPT = {"at", "name_of_curve"}


def spoiled(value: Any, text: Any, name: str = "") -> Any:
    """The same structure with the next hostile text in each field that takes any."""
    if isinstance(value, msgspec.Struct):
        kinds = {field.name: field.type for field in msgspec.structs.fields(value)}
        changes = {}
        for field, kind in kinds.items():
            now = getattr(value, field)
            if isinstance(now, str) and kind in (str, str | None):
                changes[field] = next(text)
            else:
                changes[field] = spoiled(now, text, field)
        return msgspec.structs.replace(value, **changes)
    if isinstance(value, tuple):
        return tuple(
            next(text) if isinstance(each, str) and name not in _KEPT else spoiled(each, text, name) for each in value
        )
    return value


@pytest.fixture(scope="module", params=range(3))
def frame(request: pytest.FixtureRequest) -> Frame:
    made = (frames.hang, frames.gpu_lost, frames.dead_rank)[request.param]()
    text = cycle(HOSTILE[request.param * 3 :] + HOSTILE[: request.param * 3])
    derived = spoiled(made.derived, text)
    findings = spoiled(made.findings, text)
    return msgspec.structs.replace(made, derived=derived, findings=findings, history=(derived,))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40)], ids=str)
def test_hostile_text_never_breaks_a_row(frame: Frame, page: str, size: tuple[int, int]) -> None:
    plain = View(frame=frame, page=page)
    filtered = replace(plain, filters={page: HOSTILE[0]})
    inside = filtered.with_state(ProcessesState(inside="env"))
    alone = (replace(filtered, alone=panel) for panel in ("gpu-card", "symptom-page"))
    for view in (plain, replace(filtered, selected=5), inside, *alone):
        for line in picture(view, *size):
            assert line.width == size[0]
            assert line.text.isprintable(), [unicodedata.name(c, hex(ord(c))) for c in line.text if not c.isprintable()]
            assert len(to_ascii(line.text)) == size[0]
            assert to_ascii(line.text).isascii()
