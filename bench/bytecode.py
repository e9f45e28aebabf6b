"""hwtop with its bytecode beside it, as pip installs it: imported from source it takes twice as long to start, and 5 MB more."""

from __future__ import annotations

import compileall
import os
from pathlib import Path

ROOT = Path(__file__).parent.parent


def compile_hwtop() -> None:
    """Before anything is measured; what is started from here on also keeps what it compiles."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(ROOT / "hwtop", quiet=1)
