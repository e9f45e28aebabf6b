"""`hwtop schema`: JSON Schema of what hwtop prints."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False, metavar="[NAME]")
def command(name: str | None) -> None:
    """Print the JSON Schema of what hwtop prints as JSON; without NAME, list the names.

    Every object has `schema_version`. Fields may be added; the version is raised when one is removed, renamed or changes its meaning.
    """
    from hwtop.errors import UsageError
    from hwtop.report.schema import SCHEMAS, list_text, schema_text
    from hwtop.suggestion import did_you_mean

    if name is None:
        print("\n".join(list_text()))
        return
    if name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}: {did_you_mean(name, SCHEMAS, '`hwtop schema` lists them')}")
    print(schema_text(name))
