"""Log name: which open files are called like logs.

Besides the usual endings: detectron2 (`log.txt.rank1`), Python's rotating handlers (`train.log.1`, `train.log.2026-01-02`),
`mpirun --output-filename` (`rank.1/stdout`), multilog (`current`).
"""

from __future__ import annotations

import re

from hwtop.lazy_regex import lazy_regex

_NAME = lazy_regex(
    r"\.(?:log|out|err|txt|jsonl)(?:\.[\w.-]+)?$|/(?:\w+[._-])?(?:stdout|stderr|log|current)$|/rank[._-]?\d+$"
)
_NO_LOG = lazy_regex(
    r"/(?:requirements|readme|license|vocab|merges|hparams|config)[^/]*$|\.(?:gz|bz2|xz|zst|lock)$", re.I
)
_DELETED = " (deleted)"


def is_log_name(target: str) -> bool:
    """Of what an open descriptor points to, as /proc/PID/fd tells it; also of a deleted file."""
    path = target.removesuffix(_DELETED)
    return path.startswith("/") and _NAME.search(path) is not None and _NO_LOG.search(path) is None
