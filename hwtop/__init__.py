"""hwtop: a terminal monitor that tells why a training job is slow or stuck."""

from __future__ import annotations

__version__ = "0.1.0"
