"""hwtop: a terminal monitor that tells why a training job is slow or stuck.

`heartbeat` is for the training itself; it needs only the standard library. The other names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hwtop.heartbeat import heartbeat

if TYPE_CHECKING:
    from hwtop.api import Recording as Recording
    from hwtop.api import diagnose as diagnose
    from hwtop.api import snapshot as snapshot

__all__ = ["Recording", "__version__", "diagnose", "heartbeat", "snapshot"]

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("hwtop.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
