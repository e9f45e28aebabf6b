"""Output: what every JSON object that hwtop prints has in common."""

from __future__ import annotations

from msgspec import Struct

SCHEMA_VERSION = 1
"""Of all JSON that hwtop prints. Fields may be added; it is raised when one is removed, renamed or changes its meaning."""


class Output(Struct, frozen=True, kw_only=True, tag_field="schema_version", tag=SCHEMA_VERSION):
    """One JSON object on standard output; `hwtop schema` prints the schemas."""
