"""`hwtop config`: the person's settings."""

from __future__ import annotations

import click

_FILE = click.option("--config", "path", metavar="FILE", help="This file instead of the usual one.")


@click.group()
def command() -> None:
    """Your settings: ~/.config/hwtop/config.toml. F2 in the screen changes them, too."""


@command.command("init")
@_FILE
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
def init(path: str | None, force: bool) -> None:
    """Write a commented settings file to begin with."""
    from pathlib import Path

    from hwtop import atomic_file
    from hwtop.config import default_path
    from hwtop.config.settings import template
    from hwtop.errors import CannotError, UsageError

    place = Path(path) if path is not None else default_path()
    if place.exists() and not force:
        raise UsageError(f"{place} is there already: edit it, or write it anew with --force")
    try:
        atomic_file.write(place.resolve(), template().encode())
    except OSError as error:
        raise CannotError(
            f"{place} cannot be written: {error.strerror or error}; name another with --config FILE"
        ) from error
    print(place)


@command.command("show")
@_FILE
def show(path: str | None) -> None:
    """Print the settings that hold, with what the file has set."""
    from hwtop.config import load
    from hwtop.report.config import config_text
    from hwtop.ui.keys.keymap import toml_lines

    for line in [*config_text(path), *toml_lines(load(path).keys)]:
        print(line)


@command.command("check")
@_FILE
def check(path: str | None) -> None:
    """Tell whether hwtop understands the file. Exit code 2 when it does not."""
    from hwtop.config import load
    from hwtop.report.config import check_text
    from hwtop.ui.settings import rows as settings_rows

    told = check_text(path)
    settings_rows.check(load(path))
    print(told)
