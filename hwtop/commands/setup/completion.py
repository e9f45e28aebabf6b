"""`hwtop completion`: shell completion of commands, flags and PIDs."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from hwtop.errors import UsageError

_PLACES = {
    "bash": "~/.local/share/bash-completion/completions/hwtop",
    "fish": "~/.config/fish/completions/hwtop.fish",
    "zsh": "~/.zfunc/_hwtop   (with fpath+=~/.zfunc before compinit in ~/.zshrc)",
}
"""Where each shell looks for completion scripts."""

_EPILOG = "\b\n" + "\n".join(f"hwtop completion {shell} > {place}" for shell, place in _PLACES.items())


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(sorted(_PLACES)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete hwtop's commands, flags and the PIDs of training jobs.

    New shells read it from these files:
    """
    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"the installed click has no completion for {shell}")
    print(found(ctx.find_root().command, {}, "hwtop", "_HWTOP_COMPLETE").source())
