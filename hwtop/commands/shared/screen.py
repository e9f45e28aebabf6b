"""Flags of the commands that open the screen in this terminal, and how they combine with the settings file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from hwtop.commands.shared import completers, pictures
from hwtop.commands.shared.options import F, config_path, settings, settings_of
from hwtop.commands.shared.values import Seconds
from hwtop.config import INTERVAL_S, AlertConfig, Config
from hwtop.errors import CannotError, HwtopError

if TYPE_CHECKING:
    from hwtop.config.file import Changes
    from hwtop.config.settings import Value
    from hwtop.ui.options import Saved, ScreenOptions

_FLAGS: dict[str, tuple[str, str, Callable[[Any], Value]]] = {
    "interval": ("interval", "--interval", lambda seconds: f"{seconds:g}s"),
    "theme": ("theme", "--theme", str),
    "is_ascii": ("ascii", "--ascii", bool),
    "no_mouse": ("mouse", "--no-mouse", lambda is_off: not is_off),
    "readonly": ("readonly", "--readonly", bool),
}
"""Parameter -> the setting in [screen] that it overrides, the flag, and its value as written in the file."""


interval = click.option(
    "-i", "--interval", type=Seconds(*INTERVAL_S), default="1s", show_default=True, help="Time between two samples."
)
plain = click.option("--ascii", "is_ascii", is_flag=True, help="Use no block or braille characters.")


def theme(words: str) -> Callable[[F], F]:
    """--theme, with this help text."""
    return click.option("--theme", default="auto", shell_complete=completers.themes, show_default=True, help=words)


def looks(function: F) -> F:
    """How to show, and --config. `opening` reads them."""
    for option in (
        theme("Theme, e.g. light; auto asks the terminal. An unknown name lists all themes."),
        click.option("--no-mouse", is_flag=True, help="Do not capture the mouse."),
        plain,
        click.option("--no-color", is_flag=True, help="Use no colours (as does NO_COLOR)."),
        settings,
    ):
        function = option(function)
    return function


def flags(function: F) -> F:
    """`looks`, and those of a live watch."""
    readonly = click.option("--readonly", is_flag=True, help="Disable all actions that change the job.")
    return interval(readonly(looks(function)))


class Opening(Struct, frozen=True):
    """How the screen opens."""

    options: ScreenOptions
    interval_s: float
    has_mouse: bool
    config: Config


def opening(ctx: click.Context) -> Opening:
    """The options from the flags and the settings file.

    Raises:
        UsageError: the file names a theme, an action or a key that does not exist.
    """
    from hwtop.config import default_path
    from hwtop.report.frame import markdown
    from hwtop.seconds import seconds
    from hwtop.ui.options import SettingsFile
    from hwtop.ui.settings import rows as settings_rows
    from hwtop.ui.settings.adoption import configured

    config, given = settings_of(ctx), ctx.params
    settings_rows.check(config)
    place = Path(config_path(ctx) or default_path())
    options = replace(
        configured(config),
        theme=given["theme"],
        is_ascii=given["is_ascii"],
        idle_interval_s=seconds(config.screen.idle_interval) or 0.0,
        is_readonly=given.get("readonly", True),
        no_color=given["no_color"] or bool(os.environ.get("NO_COLOR")),
        alerts=_alerts(config.alerts, given.get("on_finding")),
        save_picture=pictures.save,
        report=markdown.folded,
        settings=SettingsFile(str(place), config, _saver(place), _given(ctx)),
    )
    return Opening(options, given.get("interval", 1.0), not given["no_mouse"], config)


def _alerts(configured: AlertConfig, command: str | None) -> AlertConfig:
    """With the command of --on-finding, where it is given."""
    return configured if command is None else replace(configured, command=command)


def _given(ctx: click.Context) -> Mapping[tuple[str, ...], tuple[str, Value]]:
    """The settings given on the command line."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {
        ("screen", name): (flag, written(ctx.params[parameter]))
        for parameter, (name, flag, written) in _FLAGS.items()
        if ctx.get_parameter_source(parameter) is typed
    }


def _saver(place: Path) -> Callable[[Changes, Saved], None]:
    """Writes the file in a thread of its own: a home directory on a dead server must not block the screen."""

    def work(changes: Changes, saved: Saved) -> None:
        from hwtop.config import file

        try:
            saved(file.save(place, changes))
        except HwtopError as error:
            saved(error)
        except Exception as error:  # any other failure of a file system
            saved(CannotError(f"cannot write {place}: {type(error).__name__}: {error}; nothing was saved"))

    def save(changes: Changes, saved: Saved) -> None:
        threading.Thread(target=work, args=(changes, saved), name="hwtop-settings", daemon=True).start()

    return save
