"""Flags of the commands that open the screen in this terminal, and what they and the settings file make of it together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hwtop.commands import completion
from hwtop.commands.options import F, Seconds, config_path, settings, settings_of
from hwtop.config import INTERVAL_S, SymptomConfig
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
"""Parameter -> the setting in [screen] that it goes before, the flag, and its value as the file would say it."""


interval = click.option(
    "-i", "--interval", type=Seconds(*INTERVAL_S), default="1s", show_default=True, help="Between two looks."
)
plain = click.option("--ascii", "is_ascii", is_flag=True, help="No block or braille characters.")


def theme(words: str) -> Callable[[F], F]:
    """--theme, with what "auto" and a wrong name do in these words."""
    return click.option("--theme", default="auto", shell_complete=completion.themes, show_default=True, help=words)


def flags(function: F) -> F:
    """How to show, and --config. `opening` reads them."""
    for option in (
        theme("A theme by name, e.g. light; auto asks the terminal. A wrong name lists them."),
        click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
        plain,
        click.option("--no-color", is_flag=True, help="No colours (NO_COLOR is honoured, too)."),
        click.option("--readonly", is_flag=True, help="Offer nothing that changes the job."),
        interval,
        settings,
    ):
        function = option(function)
    return function


@dataclass(frozen=True)
class Opening:
    """How the screen opens."""

    options: ScreenOptions
    interval_s: float
    has_mouse: bool
    symptoms: SymptomConfig
    learns: bool


def opening(ctx: click.Context) -> Opening:
    """What the flags and the file say together.

    Raises:
        UsageError: the file names a theme, an action or a key that there is not.
    """
    from hwtop.config import default_path
    from hwtop.ui.keys.keymap import keymap
    from hwtop.ui.options import ScreenOptions, SettingsFile
    from hwtop.ui.settings import rows as settings_rows

    config, given = settings_of(ctx), ctx.params
    settings_rows.check(config)
    place = Path(config_path(ctx) or default_path())
    options = ScreenOptions(
        theme=given["theme"],
        is_ascii=given["is_ascii"],
        is_readonly=given["readonly"],
        no_color=given["no_color"] or bool(os.environ.get("NO_COLOR")),
        alerts=config.alerts,
        panels=config.panels,
        keymap=keymap(config.keys),
        settings=SettingsFile(str(place), config, _saver(place), _given(ctx)),
    )
    return Opening(options, given["interval"], not given["no_mouse"], config.symptoms, config.baselines.learn)


def _given(ctx: click.Context) -> Mapping[tuple[str, ...], tuple[str, Value]]:
    """What was said on the command line."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {
        ("screen", name): (flag, said(ctx.params[parameter]))
        for parameter, (name, flag, said) in _FLAGS.items()
        if ctx.get_parameter_source(parameter) is typed
    }


def _saver(place: Path) -> Callable[[Changes, Saved], None]:
    """Writes the file from a thread of its own: a home on a server that is gone must not stop the screen."""

    def work(changes: Changes, saved: Saved) -> None:
        from hwtop.config import file

        try:
            saved(file.save(place, changes))
        except HwtopError as error:
            saved(error)
        except Exception as error:  # whatever else a file system can do wrong
            saved(CannotError(f"{place} cannot be written: {type(error).__name__}: {error}; nothing was saved"))

    def save(changes: Changes, saved: Saved) -> None:
        threading.Thread(target=work, args=(changes, saved), name="hwtop-settings", daemon=True).start()

    return save
