"""What the terminal can show: by what its environment says, and by asking it where that does not tell.

Asked are the colour of its ground (OSC 11), how many cells two bytes of UTF-8 take (a cursor position report), and last what
every terminal answers (primary device attributes), so that no time is lost on what it does not know. See xterm's ctlseqs.
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from hwtop.errors import CannotError
from hwtop.lazy_regex import lazy_regex
from hwtop.ui import themes
from hwtop.ui.options import ScreenOptions
from hwtop.ui.terminal import clipboard

Ask = Callable[[str], str]
"""Sends a question to the terminal, gives its answers, "" where there are none."""

_IN, _OUT = 0, 1
_NO_CURSOR = ("", "dumb", "unknown")
"""What TERM says where the cursor cannot be moved, or nobody has said what terminal it is."""
_BY_ITSELF = "\x1b[c"
_ITSELF = lazy_regex(r"\x1b\[\?[\d;]*c")
_TO_GROUND = "\x1b]11;?\x07"
_GROUND = lazy_regex(r"\x1b\]11;rgba?:([0-9a-f]+)/([0-9a-f]+)/([0-9a-f]+)", re.IGNORECASE)
_TO_LETTER = "\ré\x1b[6n\r\x1b[K"
"""One cell in UTF-8, else two; neither byte is a control character in other character sets."""
_PLACE = lazy_regex(r"\x1b\[\d+;(\d+)R")
_FEW_GLYPHS = "plain ASCII, as the Linux console has few glyphs"
_OTHER_LOCALE = "plain ASCII, as the locale is not UTF-8: `export LC_ALL=C.UTF-8` if this terminal knows more"
_ANSWER_S = 1.0
"""Between two parts of an answer; a line around the world takes 0.3 s."""
_MOST_PARTS = 64
_LIGHT = 0.5
"""Luma of the ground from which on it is light, as in editors that ask, e.g. Vim's 'background'."""


def check(environ: Mapping[str, str] = os.environ) -> None:
    """Find out early whether the screen can be drawn at all.

    Raises:
        CannotError: it cannot, or nothing says what terminal it is.
    """
    term = environ.get("TERM", "")
    if term in _NO_CURSOR:
        said = f"TERM is {term!r}" if term else "TERM is not set"
        raise CannotError(
            f"{said}, so the terminal may not be able to show a screen: if it can, `export TERM=xterm-256color` and start "
            "again; if not, use `hwtop diagnose PID` or `hwtop PID --once`"
        )


def fitted(options: ScreenOptions, ask: Ask | None = None, environ: Mapping[str, str] = os.environ) -> ScreenOptions:
    """`options` as this terminal can show them, with a word on what it cannot."""
    ask = ask or asked
    is_console = environ.get("TERM") == "linux"
    is_ground_asked = options.theme == themes.AUTO and not options.no_color and not is_console
    is_in_tmux = clipboard.is_in_tmux(environ)
    is_letter_asked = not (options.is_ascii or is_console or says_utf8(environ) or is_in_tmux)
    question = (_TO_LETTER if is_letter_asked else "") + (_TO_GROUND if is_ground_asked else "")
    answer = ask(question) if question else ""
    options = replace(options, is_light=is_ground_asked and is_light(answer, environ), is_in_tmux=is_in_tmux)
    if options.is_ascii or (says_utf8(environ) and not is_console) or (is_letter_asked and knows_utf8(answer)):
        return options
    return replace(options, is_ascii=True, note=_FEW_GLYPHS if is_console else _OTHER_LOCALE)


def says_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale does. What Python itself has set in place of the locale "C" (PEP 538) says nothing."""
    own = "LC_CTYPE" if sys.flags.utf8_mode and environ.get("LC_CTYPE", "").startswith("C.") else ""
    names = (name for name in ("LC_ALL", "LC_CTYPE", "LANG") if name != own)
    locale = next((environ[name] for name in names if environ.get(name)), "")
    return "utf8" in locale.lower().replace("-", "")


def knows_utf8(answer: str) -> bool:
    """Whether the letter took one cell."""
    place = _PLACE.search(answer)
    return place is not None and place[1] == "2"


def is_light(answer: str, environ: Mapping[str, str]) -> bool:
    """Whether the ground is, as the terminal says, or COLORFGBG ("0;15": black on white) where it does not."""
    found = _GROUND.search(answer)
    if found is None:
        return environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    luma: float = 0.299 * red + 0.587 * green + 0.114 * blue
    return luma > _LIGHT


def asked(question: str) -> str:
    """What the terminal of this process answers. One that answers nothing costs a second; keys hit meanwhile are lost."""
    try:
        before = termios.tcgetattr(_IN)
        mode = termios.tcgetattr(_IN)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(_IN, termios.TCSANOW, mode)
    except termios.error:
        return ""
    try:
        os.write(_OUT, (question + _BY_ITSELF).encode())
        return _answer()
    except OSError:
        return ""
    finally:
        termios.tcsetattr(_IN, termios.TCSANOW, before)


def _answer() -> str:
    answer = ""
    for _ in range(_MOST_PARTS):
        if _ITSELF.search(answer) or not select.select([_IN], [], [], _ANSWER_S)[0]:
            break
        part = os.read(_IN, 4096)
        if not part:
            break
        answer += part.decode(errors="replace")
    return answer
