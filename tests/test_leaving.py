from __future__ import annotations

import signal
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import cast

import pytest

from hwtop import leaving

_module_lock = import_module("importlib._bootstrap")._get_module_lock

Handler = Callable[[int, "FrameType | None"], None]


class Code:
    co_name = "cb"
    co_filename = _module_lock.__code__.co_filename


class Frame:
    f_code = Code
    f_back = None


LOST = cast("FrameType", Frame)
"""The callback of the import system."""


def test_a_signal_ends_the_program() -> None:
    with pytest.raises(SystemExit) as ended:
        leaving.leave(signal.SIGTERM, None)
    assert ended.value.code == 143


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[Handler]:
    """The handlers that wait."""
    waiting: list[Handler] = []
    monkeypatch.setattr(leaving, "_later", waiting.append)
    return waiting


def test_where_the_exception_would_be_lost_it_waits(later: list[Handler]) -> None:
    leaving.leave(signal.SIGTERM, LOST)
    with pytest.raises(SystemExit) as ended:
        later[0](signal.SIGALRM, None)
    assert ended.value.code == 143


def test_an_interrupt_is_not_lost_either(later: list[Handler]) -> None:
    with leaving.interruptible():
        handler = signal.getsignal(signal.SIGINT)
        assert callable(handler)
        handler(signal.SIGINT, LOST)
        with pytest.raises(KeyboardInterrupt):
            later[0](signal.SIGALRM, None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_callback_is_where_it_was_found() -> None:
    assert "cb" in [getattr(each, "co_name", "") for each in _module_lock.__code__.co_consts]
