"""Names of hosts as the user gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hwtop.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:@%\[\]-]{0,254}", re.ASCII)
"""A host, alias or address, with a user before an @; never an option."""
_SPAN = re.compile(r"(?P<before>[^\[\]]*)\[(?P<numbers>[0-9,-]+)\](?P<after>[^\[\]]*)", re.ASCII)
_MOST_HOSTS = 10_000
"""Of one fleet; bounds what a typing error in a range can start."""


def hosts_of(given: str | None, hostfile: Path | None) -> tuple[str, ...]:
    """All of them, each once, in their order.

    Args:
        given: "a,b,c" or "node[01-16,20]".
        hostfile: a host a line; what follows a blank ("slots=8") and comments are left out, as in files for mpirun.

    Raises:
        UsageError: no host, or one that is none.
    """
    names = [*_listed(given)] if given is not None else []
    if hostfile is not None:
        try:
            text = hostfile.read_text(errors="replace")
        except OSError as error:
            raise UsageError(f"cannot read {str(hostfile)!r}: {error.strerror or error}") from None
        names += [word for line in text.splitlines() for word in line.partition("#")[0].split()[:1]]
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a host")
    found = tuple(dict.fromkeys(names))
    if not found:
        raise UsageError("no host given: use --hosts a,b,c or --hostfile FILE")
    return found


def _listed(text: str) -> Iterable[str]:
    for part in re.split(r",(?![^\[]*\])", text):
        name = part.strip()
        span = _SPAN.fullmatch(name)
        if span is None:
            yield from (name,) if name else ()
        else:
            yield from _spanned(span)


def _spanned(span: re.Match[str]) -> list[str]:
    """ "node[08-10]" -> node08, node09, node10."""
    names: list[str] = []
    for part in span["numbers"].split(","):
        first, _, last = part.partition("-")
        if not first or (last and int(last) < int(first)) or int(last or first) - int(first) >= _MOST_HOSTS:
            raise UsageError(f"{span[0]!r} is not a list of hosts: use e.g. node[01-16]")
        names += [
            f"{span['before']}{number:0{len(first)}}{span['after']}"
            for number in range(int(first), int(last or first) + 1)
        ]
    return names
