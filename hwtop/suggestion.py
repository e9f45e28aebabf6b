"""Names that may be meant by one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST = 3
"""Names that are shown."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of an error message: which of `known` begin with `name` or are spelt nearly so; `otherwise` if none."""
    from difflib import get_close_matches

    known = list(known)
    near = [each for each in known if name and each.startswith(name)] or get_close_matches(name, known, _MOST)
    return f"did you mean {' or '.join(map(repr, near[:_MOST]))}?" if near else otherwise


def one_of(name: str, known: Sequence[str]) -> str:
    """As `did_you_mean`, followed by all of them."""
    near = did_you_mean(name, known, "")
    return f"{near and f'{near} Or '}choose one of {', '.join(known)}"
