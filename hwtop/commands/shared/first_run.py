"""Whether the user has opened the screen before: an empty file in hwtop's state folder, which may be deleted."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hwtop.paths import state_folder


def is_first(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this is the first time, which the next call no longer is. If nothing can be written, every time is the first."""
    marker = state_folder(environ) / "greeted"
    try:
        marker.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        marker.touch(exist_ok=False, mode=0o600)
    except FileExistsError:
        return not marker.exists()  # else the folder itself is a file
    except OSError:
        return True
    return True
