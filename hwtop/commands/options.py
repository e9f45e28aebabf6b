"""Flags that several commands share, and their types."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from hwtop.commands import completion
from hwtop.errors import UsageError
from hwtop.report import fit
from hwtop.seconds import seconds

if TYPE_CHECKING:
    from click import ParamType as ParamType

    from hwtop.config import Config
else:

    class ParamType(click.ParamType):
        """click's, which is generic only in its newest versions (8.5, not 8.3)."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


F = TypeVar("F", bound=Callable[..., Any])
SMALLEST, LARGEST = (20, 5), (500, 200)
"""Columns and rows of a picture."""
_CONFIG = "hwtop.config"
"""Key of the value of --config in the context."""


class Seconds(ParamType[float]):
    """A duration: 20, 20s, 500ms, 2m."""

    name = "SECONDS"

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds, between the bounds."""
        if isinstance(value, (int, float)):
            return float(value)
        found = seconds(str(value))
        if found is None:
            self.fail(f"{value!r} is not a valid time: use e.g. 20s, 500ms or 2m", param, ctx)
        if not self.least <= found <= self.most:
            self.fail(f"{value} is out of range: use {self.least:g} to {self.most:g} seconds", param, ctx)
        return found


class HiddenList(ParamType[tuple[str, ...]]):
    """hosts, users and paths, separated by commas."""

    name = "LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Those that are named."""
        from hwtop.job.secrets import HIDDEN

        if isinstance(value, tuple):
            return value
        found = tuple(part.strip() for part in str(value).split(","))
        if not set(found) <= set(HIDDEN):
            self.fail(f"{value!r} is not a list of what to mask: use e.g. {','.join(HIDDEN)}", param, ctx)
        return found


class Bytes(ParamType[int]):
    """A size in powers of 1024: 200M, 2G."""

    name = "BYTES"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes, at least so many."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d{1,12})\s*([kmgt]?)b?", str(value).strip(), re.ASCII | re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size: use e.g. 200M or 2G", param, ctx)
        size = int(match[1]) << 10 * " kmgt".index(match[2].lower() or " ")
        if size < self.least:
            self.fail(f"{value} is too small: use at least {self.least >> 20}M", param, ctx)
        return size


class Size(ParamType[tuple[int, int]]):
    """Columns and rows: 120x40."""

    name = "COLUMNSxROWS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """(columns, rows), from `SMALLEST` to `LARGEST`."""
        if isinstance(value, tuple):
            return value
        columns, _, rows = str(value).lower().partition("x")
        if not (columns.isascii() and columns.isdigit() and rows.isascii() and rows.isdigit()):
            self.fail(f"{value!r} is not a size: use e.g. 120x40", param, ctx)
        size = int(columns), int(rows)
        if not all(low <= given <= high for low, given, high in zip(SMALLEST, size, LARGEST, strict=True)):
            self.fail(f"{value} is out of range: use 20x5 to 500x200", param, ctx)
        return size


class Numbers(ParamType[tuple[int, ...]]):
    """Numbers with commas and ranges: 0,1 or 0-3."""

    name = "LIST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Sorted, without duplicates."""
        if isinstance(value, tuple):
            return value
        numbers: set[int] = set()
        for part in str(value).split(","):
            match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part.strip())
            if match is None or int(match[2] or match[1]) < int(match[1]):
                self.fail(f"{value!r} is not a list of numbers: use e.g. 0,1 or 0-3", param, ctx)
            numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
        return tuple(sorted(numbers))


def target(function: F) -> F:
    """PID, -p/--pid and --name: which job. Read them with `resolve_target`."""
    for option in (
        click.option(
            "--name", "name", metavar="PATTERN", help="The job whose command line matches this regular expression."
        ),
        click.option(
            "-p",
            "--pid",
            "pid_option",
            metavar="PID",
            shell_complete=completion.jobs,
            help="Same as PID. Also slurm:JOBID[.STEP].",
        ),
        click.argument("pid", required=False, metavar="[PID]", shell_complete=completion.jobs),
    ):
        function = option(function)
    return function


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
        click.option(
            "--oneline", is_flag=True, expose_value=False, callback=_keep, help="Print one line: the verdict."
        ),
        click.option(
            "--max-bytes",
            metavar="N",
            type=click.IntRange(fit.LEAST_BYTES),
            expose_value=False,
            callback=_keep,
            help="Print at most N bytes of text; what is cut is named. The verdict is never cut.",
        ),
        click.option(
            "--brief",
            is_flag=True,
            expose_value=False,
            callback=_keep,
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
    is_oneline, is_brief, most_bytes = (ctx.meta.get(f"hwtop.{name}") for name in ("oneline", "brief", "max_bytes"))
    if as_json and (is_oneline or is_brief or most_bytes):
        raise UsageError("--json prints all: leave out --brief, --max-bytes and --oneline")
    return Length(bool(is_oneline), bool(is_brief), most_bytes or (fit.BRIEF_BYTES if is_brief else None))


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    ctx.meta[f"hwtop.{parameter.name}"] = value


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


def resolve_target(pid: str | None, pid_option: str | None, name: str | None, *, required: bool) -> int | None:
    """The PID that was given, checked to exist.

    Raises:
        UsageError: none or several were given, it is neither a number nor slurm:JOBID, or no such process exists.
        CannotError: the Slurm job runs elsewhere.
    """
    from hwtop.collectors.process.candidates import find_by_name
    from hwtop.collectors.process.source import check_target

    given = [value for value in (pid, pid_option, name) if value is not None]
    if len(given) > 1:
        raise UsageError("give only one of PID, --pid and --name")
    if not given:
        if required:
            raise UsageError(
                "no job given: pass the PID of any of its processes; `hwtop` without PID lists the training jobs"
            )
        return None
    if name is not None:
        return find_by_name(name)
    if given[0].startswith("slurm:"):
        from hwtop.collectors.process.slurm import find_slurm_job

        return find_slurm_job(given[0])
    if not re.fullmatch(r"\d{1,10}", given[0]) or int(given[0]) == 0:
        raise UsageError(f"{given[0]!r} is neither a PID nor a command; `hwtop -h` lists the commands")
    return check_target(int(given[0]))


def end_as_interrupted() -> None:
    """SIGTERM and SIGHUP do what Ctrl-C does, unless they are ignored (nohup): what is under way is cleaned up."""
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, signal.default_int_handler)


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
