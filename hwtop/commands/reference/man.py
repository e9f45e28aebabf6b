"""`hwtop man`: the manual page, made of the help of all commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc

import click

_EXITS = (
    ("0", "Success. diagnose: no finding of severity warning or above."),
    ("1", "diagnose and scan: findings of severity warning or above. baseline compare: clearly slower."),
    ("2", "Error. One line on standard error says what is wrong and what to do."),
)
_ENVIRONMENT = (
    ("NO_COLOR", "No colours if set and not empty."),
    ("COLORTERM, TERM", 'Number of colours of the terminal, for the theme "auto".'),
    ("HWTOP_DEBUG", "If set, internal errors print a traceback."),
    ("XDG_CONFIG_HOME", "Directory of the settings, instead of ~/.config."),
)
_FILES = (
    ("~/.config/hwtop/config.toml", "Your settings; hwtop config init writes a file with comments."),
    ("~/.config/hwtop/patterns.d/*.toml", "Your own log patterns; see hwtop patterns -h."),
)


@click.command(
    epilog="""\b
    hwtop man | man -l -                                 read it
    hwtop man > ~/.local/share/man/man1/hwtop.1          install it, for man hwtop"""
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Print the manual page, for man(1)."""
    for line in page(ctx.find_root()):
        print(line)


def page(root: click.Context) -> Iterator[str]:
    """The page of the whole program, `root`, in roff with the macros of man(7)."""
    from hwtop import __version__

    cli = root.command
    assert isinstance(cli, click.Group)
    screen = cli.get_command(root, "live")
    assert screen is not None
    yield f'.TH HWTOP 1 "" "hwtop {__version__}" "User Commands"'
    yield from (".SH NAME", r"hwtop \- why a training job is slow or stuck")
    yield from (".SH SYNOPSIS", r".B hwtop", r"[\fIPID\fR] [\fIOPTIONS\fR]", ".br", ".B hwtop", r"\fICOMMAND\fR ...")
    yield ".SH DESCRIPTION"
    yield from _text(cli.help or "")
    yield from _text(screen.help or "")
    yield ".SH OPTIONS"
    yield from _options(screen, root)
    yield from _options(cli, root)
    yield ".SH COMMANDS"
    yield from _commands(cli, root)
    yield ".SH EXAMPLES"
    yield from _text(cli.epilog or "")
    for title, rows in (("EXIT STATUS", _EXITS), ("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {title}"
        yield from _listed(rows)


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield f'.SS "{_line(ctx.command_path)} {_line(pieces)}"'
    yield from _text(command.help or "")
    yield from _options(command, ctx)
    yield from _text(command.epilog or "")
    if isinstance(command, click.Group):
        yield from _commands(command, ctx)


def _commands(group: click.Group, ctx: click.Context) -> Iterator[str]:
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        yield from _command(found, click.Context(found, info_name=name, parent=ctx))


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    records = (param.get_help_record(ctx) for param in command.params if isinstance(param, click.Option))
    yield from _listed(record for record in records if record is not None)


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", rf"\fB{_line(name)}\fR", _line(text))


def _text(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with \\b, click's mark, keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        if paragraph.startswith("\b"):
            yield from (".PP", ".nf", *(_line(line) for line in paragraph.split("\n")[1:]), ".fi")
        elif paragraph:
            yield from (".PP", _line(" ".join(paragraph.split())))


def _line(text: str) -> str:
    """`text` escaped for roff."""
    safe = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return rf"\&{safe}" if safe.startswith((".", "'")) else safe
