"""The error file that torchrun gives each rank: its last words, where `main` is wrapped in `@record`.

Written before the rank ends, as {"message": {"message": "ValueError: ...", "extraInfo": {...}}}
(torch.distributed.elastic.multiprocessing.errors.error_handler, `record_exception`); older torch wrote a text for "message".
"""

from __future__ import annotations

import msgspec

from hwtop.collectors.process.files import read_bytes

_LIMIT = 2000
"""Characters of an exception's text that are kept."""


def last_words(path: str) -> str | None:
    """The exception, in one line; None where there is no such file or it holds none. May block on a dead mount."""
    try:
        content = msgspec.json.decode(read_bytes(path))
    except (OSError, msgspec.DecodeError):
        return None
    message = content.get("message") if isinstance(content, dict) else None
    if isinstance(message, dict):
        message = message.get("message")
    return " ".join(message.split())[:_LIMIT] or None if isinstance(message, str) else None
