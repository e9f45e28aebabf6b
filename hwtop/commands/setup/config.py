"""`hwtop config`: the user's settings."""

from __future__ import annotations

import click

_FILE = click.option("--config", "path", metavar="FILE", help="Use this settings file instead of the default one.")


@click.group()
def command() -> None:
    """Write, show and check the settings file, ~/.config/hwtop/config.toml. F2 in the screen also changes it."""


@command.command("init")
@_FILE
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init(path: str | None, force: bool) -> None:
    """Write a settings file with all defaults as comments."""
    from pathlib import Path

    from hwtop import atomic_file
    from hwtop.config import default_path
    from hwtop.config.settings import template
    from hwtop.errors import CannotError, UsageError

    place = Path(path) if path is not None else default_path()
    if place.exists() and not force:
        raise UsageError(f"{place} already exists: edit it, or overwrite it with --force")
    try:
        atomic_file.write_own(place.resolve(), template().encode())
    except OSError as error:
        raise CannotError(
            f"cannot write {place}: {error.strerror or error}; choose another file with --config FILE"
        ) from error
    print(place)


@command.command("show")
@_FILE
def show(path: str | None) -> None:
    """Print the settings in effect; those set in the file are marked."""
    from hwtop.config import load
    from hwtop.report.config import config_text
    from hwtop.ui.keys.keymap import toml_lines

    for line in [*config_text(path), *toml_lines(load(path).keys)]:
        print(line)


@command.command("check")
@_FILE
def check(path: str | None) -> None:
    """Check the settings file. Exit code: 0 valid, 2 invalid (with the reason)."""
    from hwtop.config import load
    from hwtop.report.config import check_text
    from hwtop.ui.settings import rows as settings_rows

    reported = check_text(path)
    settings_rows.check(load(path))
    print(reported)
