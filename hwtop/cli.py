"""Flags and dispatch. A command's module is imported only when it is chosen."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import TextIO

import click

from hwtop import __version__
from hwtop.errors import CannotError, HwtopError, UsageError, internal_error
from hwtop.suggestion import did_you_mean

_ROOMS = {
    "job": (
        "Look at a job",
        {
            "diagnose": "Watch a job without a screen, then print what is wrong.",
            "stacks": "Print the Python stacks of all ranks, grouped.",
            "wait": "Wait until a job ends, stalls, has a symptom or reaches a step.",
            "scan": "Search log files for known errors and progress.",
            "snapshot": "Read all metrics once and print them.",
            "fleet": "Watch a job on several nodes, over ssh, Slurm, Ray or Kubernetes.",
        },
    ),
    "saved": (
        "Keep, share and compare",
        {
            "record": "Record a job without a screen, into a file for `hwtop replay`.",
            "replay": "Show or diagnose a recording or a bundle.",
            "open": "Show or diagnose a bundle or a recording: the same as replay.",
            "bundle": "Collect what a colleague needs to see of a job in one file, secrets masked.",
            "screenshot": "Save the screen as PNG, SVG, HTML or text, without a terminal.",
            "incidents": "List, show and remove what hwtop saved of jobs that hung or crashed.",
            "baseline": "Save a good run as a baseline, and compare later runs with it.",
            "compare": "Compare two runs: recordings, bundles or baselines.",
        },
    ),
    "setup": (
        "Before a run, and to set up hwtop",
        {
            "demo": "Start a small training job with a planted fault, and watch it.",
            "preflight": "Check this machine and a training script before a run.",
            "prepare": "Print what to switch on before a run so that a hang can be diagnosed.",
            "heartbeat": "Print a Python module with which a training reports its step to hwtop.",
            "doctor": "Print what hwtop can and cannot see here, and how to change that.",
            "config": "Write, show and check the settings file.",
            "completion": "Print a shell completion script.",
        },
    ),
    "serve": (
        "For other programs",
        {
            "web": "Show the screen in a browser on this machine.",
            "export": "Serve metrics to Prometheus, or convert a recording for other tools.",
            "mcp": "Serve coding agents by the Model Context Protocol, on standard input and output.",
            "agent": "Report the job on this node to `hwtop fleet`, which starts it.",
        },
    ),
    "reference": (
        "Look something up",
        {
            "explain": "Explain a symptom: what it means, when it is raised, what to do.",
            "symptoms": "List all symptoms with their thresholds.",
            "patterns": "List, show and test log patterns, built-in and your own.",
            "schema": "Print the JSON Schema of what hwtop prints as JSON.",
            "man": "Print the manual page.",
        },
    ),
}
"""Folder of `hwtop.commands` -> its title in the help, and its commands with a help line each. `live` runs when no command is given."""
COMMANDS = {name: text for _, commands in _ROOMS.values() for name, text in commands.items()}
"""Name -> help line."""
_FOLDER = {"live": "job"} | {name: room for room, (_, commands) in _ROOMS.items() for name in commands}
_SAME = {"open": "replay"}
"""Another name of a command."""


class _Commands(click.Group):
    """`hwtop COMMAND ...`, or `hwtop [PID]` for the screen."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "live" and cmd_name not in COMMANDS:
            return None
        module = f"hwtop.commands.{_FOLDER[cmd_name]}.{_SAME.get(cmd_name, cmd_name)}"
        command: click.Command = import_module(module).command
        return command

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("hwtop", "[PID] [OPTIONS]")
        formatter.write_usage("hwtop", "COMMAND ...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The screen has no command name, so its options are listed here."""
        screen = self.get_command(ctx, "live")
        params = [*(screen.params if screen else ()), *self.get_params(ctx)]
        options = [param for param in params if isinstance(param, click.Option)]
        records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        with formatter.section("Screen options"):
            formatter.write_dl(records)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for title, commands in _ROOMS.values():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, text in commands.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not ctx.resilient_parsing and not (_names_a_command(args) or _may_be_a_target(args[0])):
            hint = did_you_mean(args[0], COMMANDS, "`hwtop -h` lists the commands")
            raise UsageError(f"{args[0]!r} is neither a PID nor a command: {hint}")
        return super().parse_args(ctx, args if _names_a_command(args) else ["live", *args])


def _names_a_command(args: list[str]) -> bool:
    return bool(args) and (args[0] in COMMANDS or args[0] in ("live", "-h", "--help", "-V", "--version"))


def _may_be_a_target(word: str) -> bool:
    """A PID, a job of Slurm or a flag: the screen says what is wrong with it."""
    return word[:1].isdigit() or word.startswith(("-", "slurm:"))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
    hwtop             choose a training job and watch it
    hwtop PID         watch the job that this process belongs to
    hwtop demo        try it on a small job with a planted fault
    HWTOP_DEBUG=1     print a traceback for internal errors""",
)
@click.version_option(__version__, "-V", "--version", prog_name="hwtop")
def cli() -> None:
    """Find out why a training job is slow or stuck. PID is any process of the job; without PID, choose from a list."""


def main(args: list[str] | None = None) -> None:
    """Run hwtop. Exits 2 with one line on standard error for anything that cannot be done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an unencodable file name or log line must not end the program
    sys.stdout = _whole(sys.stdout)
    try:
        if sys.stdout is None:
            raise CannotError("standard output is closed")
        code = cli.main(args=args, prog_name="hwtop", standalone_mode=False)
        sys.stdout.flush()
    except HwtopError as error:
        _fail(str(error), error.exit_code)
    except click.ClickException as error:
        named = (
            error.ctx.command_path.removesuffix(" live") if isinstance(error, click.UsageError) and error.ctx else None
        )
        hint = f" (see: {named} -h)" if named else ""
        _fail(error.format_message() + hint, 2)
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: nothing left to report
        sys.exit(141)
    except OSError as error:
        _silence(1)
        _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 2)
    except Exception as error:
        if os.environ.get("HWTOP_DEBUG"):
            raise
        mistake = f"{internal_error(error)}. Set HWTOP_DEBUG=1 for a traceback; please report it"
        _fail(_limit_reached(error) or mistake, 2)
    sys.exit(code if isinstance(code, int) else 0)


def _whole(stream: TextIO) -> TextIO:
    """`python -u` and PYTHONUNBUFFERED write a text with one call, and lose what is left where a signal ends that call (64 KiB into a
    pipe that is read late): lines are buffered instead."""
    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.RawIOBase):
        return open(stream.fileno(), "w", buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False)
    return stream


def _limit_reached(error: Exception) -> str | None:
    """What the machine refuses, in words; None: it is a mistake of hwtop."""
    if isinstance(error, MemoryError):
        return "no memory: the machine, its cgroup or ulimit -v gives no more"
    if str(error) == "can't start new thread":  # CPython has no class for it
        return "no thread can be started: raise ulimit -v and ulimit -u, or pids.max of the cgroup"
    return None


def _silence(descriptor: int) -> None:
    """What is left in its buffer cannot be written either: Python would try once more at exit, print a traceback and exit with 120."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def _fail(message: str, code: int) -> None:
    from hwtop.job.log.text import visible

    if sys.stderr is not None:  # it is closed: the exit code tells
        try:
            sys.stderr.write(f"hwtop: {visible(' '.join(message.split()))}\n")
        except OSError:
            _silence(2)
    sys.exit(code)
