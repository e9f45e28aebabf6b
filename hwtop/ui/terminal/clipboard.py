"""The clipboard of tmux: by its default settings it does not pass on what a program in it copies (OSC 52)."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping

_ANSWER_S = 2.0


def is_in_tmux(environ: Mapping[str, str]) -> bool:
    """This terminal is a pane of tmux."""
    return bool(environ.get("TMUX"))


def copy_to_tmux(text: str) -> None:
    """Into the buffer that `prefix ]` pastes, and into the terminal's clipboard where that may be. Does not wait."""
    threading.Thread(target=_load, args=(text,), name="hwtop-copy", daemon=True).start()


def _load(text: str) -> None:
    """`-w` is known from tmux 3.2 on."""
    for options in (("-w",), ()):
        try:
            done = subprocess.run(
                ["tmux", "load-buffer", *options, "-"],
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_ANSWER_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return
        if done.returncode == 0:
            return
