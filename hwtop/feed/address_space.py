"""The limit on address space (ulimit -v), which ends a Python that has too little of it in the middle of a call, or makes it wait for ever."""

from __future__ import annotations

import resource

from hwtop.errors import CannotError

NEEDED_BYTES = 3 << 29
"""Measured: 1.2 GB for one rank and 18 threads, of which 60 MB are used; the rest is what the C library reserves for each thread."""


def check_address_space() -> None:
    """Find out whether the limit leaves enough room to watch.

    Raises:
        CannotError: it does not.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < NEEDED_BYTES:
        raise CannotError(
            f"the limit on address space is {limit / 1e9:.2g} GB, and watching reserves up to {NEEDED_BYTES / 1e9:.2g} GB "
            f"(uses 0.1 GB): ulimit -v {NEEDED_BYTES // 1024}, or unlimited"
        )
