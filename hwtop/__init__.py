"""hwtop: a terminal monitor that tells why a training job is slow or stuck."""

from __future__ import annotations

from hwtop.heartbeat import heartbeat

__all__ = ["__version__", "heartbeat"]

__version__ = "0.2.0"
