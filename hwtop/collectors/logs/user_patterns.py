"""User patterns: the log patterns that the user keeps in `~/.config/hwtop/patterns.d/*.toml`, next to those of hwtop."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from msgspec import Struct

from hwtop.collectors.abandon import Abandonable
from hwtop.errors import UsageError
from hwtop.job.patterns.prefilter import refused
from hwtop.job.patterns.registry import Registry, builtin, merge, parse_file
from hwtop.job.patterns.trial import ENDLESS_S, slow_length
from hwtop.paths import config_folder

_WAIT_S = 1.0
_LARGEST_BYTES = 1 << 20


class KnownPatterns(Struct, frozen=True):
    """What to look for in logs, and which of the user's files could not be used."""

    registry: Registry
    """The user's patterns first: of one id, the first that matches a line counts."""
    problems: tuple[str, ...] = ()


def folder(environ: Mapping[str, str] = os.environ) -> str:
    """Where the user's files are looked for, whether it exists or not."""
    return str(config_folder(environ) / "patterns.d")


def read_pattern_file(path: str) -> Registry:
    """The patterns of one file.

    Raises:
        UsageError: it cannot be read, or is no pattern file; the message names the file and the pattern.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST_BYTES + 1)
        if len(raw) > _LARGEST_BYTES:
            raise UsageError(f"{path}: not a pattern file: larger than 1 MiB")
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}: give a pattern file that you may read") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: no UTF-8 text: save it as UTF-8") from error
    registry = parse_file(text, path)
    for pattern in registry.patterns:
        for expression in map(bytes.decode, pattern.expressions):
            if (reason := refused(expression)) is not None:
                raise UsageError(f'{path}: pattern "{pattern.id}": bad expression {expression!r}: {reason}')
    return registry


def known_patterns(environ: Mapping[str, str] = os.environ) -> KnownPatterns:
    """The user's patterns and those of hwtop. A file that cannot be used is left out, and reported."""
    return _beside_builtin(_read(environ))


@lru_cache(maxsize=1)
def watched_patterns() -> KnownPatterns:
    """The same where waiting is not allowed, read once: a home on a dead mount costs a second, and the user's patterns."""
    try:
        own = Abandonable("user-patterns", partial(_read, os.environ), time.monotonic).poll(_WAIT_S)
    except TimeoutError:
        own = _Own(problems=(f"{folder()}: the file system does not answer",))
    return _beside_builtin(
        own
    )  # hwtop's own are not waited for: they take CPU time, which a full machine has little of


class _Own(Struct, frozen=True):
    parts: tuple[Registry, ...] = ()
    problems: tuple[str, ...] = ()


def _beside_builtin(own: _Own) -> KnownPatterns:
    """All but those of the user's that a line could hold up for ever: a regex that runs cannot be stopped."""
    given = merge(own.parts)
    kept, problems = [], list(own.problems)
    for pattern in given.patterns:
        length = slow_length(pattern, time.process_time, ENDLESS_S)
        if length is None:
            kept.append(pattern)
        else:
            problems.append(
                f'{pattern.origin}: pattern "{pattern.id}" cannot be used: its regex needs more than {ENDLESS_S:g} s for a line '
                f"of {length} characters: bound its repeats, as in .{{0,80}}, and do not nest them"
            )
    return KnownPatterns(merge([Registry(tuple(kept), given.xids), builtin()]), tuple(problems))


def _read(environ: Mapping[str, str]) -> _Own:
    parts: list[Registry] = []
    problems: list[str] = []
    for path in _files(folder(environ), problems):
        try:
            parts.append(read_pattern_file(path))
        except UsageError as error:  # noqa: PERF203 a few files, once
            problems.append(" ".join(str(error).split()))
    return _Own(tuple(parts), tuple(problems))


def _files(path: str, problems: list[str]) -> Sequence[str]:
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return ()
    except OSError as error:
        problems.append(f"{path}: {error.strerror or error}: make it a folder that you may read")
        return ()
    return [os.path.join(path, name) for name in names if name.endswith(".toml") and not name.startswith(".")]
