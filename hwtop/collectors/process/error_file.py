"""The error file that torchrun gives each rank: its last words, where `main` is wrapped in `@record`.

Written before the rank ends, as {"message": {"message": "ValueError: ...", "extraInfo": {...}}}
(torch.distributed.elastic.multiprocessing.errors.error_handler, `record_exception`); older torch wrote a text for "message".
"""

from __future__ import annotations

import msgspec

from hwtop.collectors.found_file import read_found
from hwtop.job.secrets import masked_text

_LIMIT = 2000
"""Characters of an exception's text that are kept."""
_MOST_BYTES = 1 << 20


def last_words(path: str, uid: int | None) -> str | None:
    """The exception, in one line, secrets masked; None where there is no such file of the user `uid`, or it holds none.

    The environment of a job may name any file. May block on a dead mount.
    """
    try:
        content = msgspec.json.decode(read_found(path, uid, _MOST_BYTES)[0])
    except (
        OSError,
        msgspec.DecodeError,
        UnicodeDecodeError,
        RecursionError,
        ValueError,
    ):  # ValueError: a NUL in the path
        return None
    message = content.get("message") if isinstance(content, dict) else None
    if isinstance(message, dict):
        message = message.get("message")
    return masked_text(" ".join(message.split())[: 2 * _LIMIT])[:_LIMIT] or None if isinstance(message, str) else None
