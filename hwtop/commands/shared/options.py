"""Flags that several commands share."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from hwtop.commands.shared.values import HiddenList, Numbers
from hwtop.errors import UsageError
from hwtop.report import fit

if TYPE_CHECKING:
    from hwtop.config import Config

F = TypeVar("F", bound=Callable[..., Any])
_CONFIG = "hwtop.config"
"""Key of the value of --config in the context."""


def keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Callback of an option whose value `kept` returns, so that not every command has a parameter for it."""
    ctx.meta[f"hwtop.{parameter.name}"] = value


def kept(ctx: click.Context, *names: str) -> list[Any]:
    """Values of these parameters."""
    return [ctx.meta.get(f"hwtop.{name}") for name in names]


kept_option = partial(click.option, expose_value=False, callback=keep)
"""An option whose value `kept` returns."""


def sudo(function: F) -> F:
    """--sudo: consent to `sudo -n` for stacks that cannot be read otherwise."""
    return click.option(
        "--sudo",
        is_flag=True,
        expose_value=False,
        callback=_allow_sudo,
        help="If py-spy is refused, run it as root with `sudo -n` (never asks for a password).",
    )(function)


def reading(function: F) -> F:
    """--logs, --gpus and --sudo: what to read, and with which rights."""
    for option in (
        sudo,
        click.option("--gpus", type=Numbers(), help="Show only these GPUs, e.g. 0,1 or 0-3."),
        click.option("--logs", multiple=True, metavar="GLOB", help="Also follow log files that match GLOB (quote it)."),
    ):
        function = option(function)
    return function


def on_finding(function: F) -> F:
    """--on-finding: a command of the user for each new finding."""
    return click.option(
        "--on-finding",
        metavar="CMD",
        help="Run this shell command for each new finding of severity warning or above, with the finding as JSON on standard input.",
    )(function)


def report_failure(text: str) -> None:
    """One line on standard error."""
    click.echo(f"hwtop: {text}", err=True)


class Length(NamedTuple):
    """How much text to print."""

    is_oneline: bool
    is_brief: bool
    most_bytes: int | None
    """None: all of it."""

    @property
    def is_short(self) -> bool:
        """Not all of it."""
        return self.is_oneline or self.most_bytes is not None


def length(function: F) -> F:
    """--brief, --max-bytes and --oneline: how much text to print. `length_of` returns them."""
    for option in (
        kept_option("--oneline", is_flag=True, help="Print one line: the verdict."),
        kept_option(
            "--max-bytes",
            metavar="N",
            type=click.IntRange(fit.LEAST_BYTES),
            help="Print at most N bytes of text; what is cut is named. The verdict is never cut.",
        ),
        kept_option(
            "--brief",
            is_flag=True,
            help=f"Print only what matters most, in at most {fit.BRIEF_BYTES:,} bytes (or --max-bytes).",
        ),
    ):
        function = option(function)
    return function


def length_of(ctx: click.Context, *, as_json: bool) -> Length:
    """How much text to print.

    Raises:
        UsageError: JSON is never cut.
    """
    is_oneline, is_brief, most_bytes = kept(ctx, "oneline", "brief", "max_bytes")
    if as_json and (is_oneline or is_brief or most_bytes):
        raise UsageError("--json prints all: leave out --brief, --max-bytes and --oneline")
    return Length(bool(is_oneline), bool(is_brief), most_bytes or (fit.BRIEF_BYTES if is_brief else None))


def settings(function: F) -> F:
    """--config: the user's settings. They are read first, as the defaults of the other flags; `settings_of` returns the rest."""
    return click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_adopt,
        help="Settings file, instead of ~/.config/hwtop/config.toml.",
    )(function)


def settings_of(ctx: click.Context) -> Config:
    """The settings that `settings` has read."""
    config: Config = ctx.obj
    return config


def config_path(ctx: click.Context) -> str | None:
    """The file that --config names."""
    path: str | None = ctx.meta.get(_CONFIG)
    return path


def _allow_sudo(_: click.Context, __: click.Parameter, is_allowed: bool) -> None:
    if is_allowed:
        _consent_to_sudo()


def _consent_to_sudo() -> None:
    from hwtop.collectors.process.sudo import allow

    allow()


def _adopt(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    from hwtop.collectors.ras.policy import adopt
    from hwtop.config import EVERY_SYMPTOM, load

    config = load(path)
    if config.symptoms != EVERY_SYMPTOM:
        from hwtop.report.config import checked

        checked(config)
    screen = config.screen
    if config.stacks.sudo:
        _consent_to_sudo()
    adopt(config.nccl.ras)
    ctx.obj, ctx.meta[_CONFIG] = config, path
    if ctx.command.name in ("demo", "live", "replay", "web"):
        ctx.default_map = {
            "interval": screen.interval,
            "theme": screen.theme,
            "is_ascii": screen.ascii,
            "no_mouse": not screen.mouse,
            "readonly": screen.readonly,
        }


def end_as_interrupted() -> None:
    """SIGTERM and SIGHUP do what Ctrl-C does, unless they are ignored (nohup): what is under way is cleaned up."""
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, signal.default_int_handler)


json_flag = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
masking = click.option(
    "--mask",
    "hidden",
    type=HiddenList(),
    default=(),
    help="Mask also these: hosts, users, paths (separate them by commas). Secrets are always masked.",
)


def check_folder(place: Path) -> None:
    """Whether a file can be put there, before anything takes time.

    Raises:
        UsageError: its folder does not exist.
    """
    if not place.absolute().parent.is_dir():
        raise UsageError(f"cannot create {str(place)!r}: there is no such folder")
