"""Attempt: which log files of torchrun belong to an earlier start of the same workers.

torch.distributed.elastic writes LOG_DIR/RUN/attempt_K/LOCAL_RANK/{stdout,stderr}.log; K counts the restarts.
"""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex

_ATTEMPT = lazy_regex(r"^(.*)/attempt_(\d+)/")


def attempt_of(path: str) -> tuple[str, int] | None:
    """(folder of the run, number of the attempt); None for a file of anything else."""
    if "/attempt_" not in path:
        return None
    found = _ATTEMPT.match(path)
    number = whole_number(found[2]) if found is not None else None
    return None if found is None or number is None else (found[1], number)


def superseded(paths: Iterable[str]) -> frozenset[str]:
    """Those of an attempt after which the same run was started anew."""
    attempts = {path: attempt for path in paths if (attempt := attempt_of(path)) is not None}
    newest: dict[str, int] = {}
    for run, number in attempts.values():
        newest[run] = max(number, newest.get(run, 0))
    return frozenset(path for path, (run, number) in attempts.items() if number < newest[run])


def is_earlier(path: str, other: str) -> bool:
    """Whether `path` was written by an earlier attempt of the run that wrote `other`."""
    one, two = attempt_of(path), attempt_of(other)
    return one is not None and two is not None and one[0] == two[0] and one[1] < two[1]
