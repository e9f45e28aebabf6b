"""Log text: what a terminal would have shown of a raw line, and who wrote it."""

from __future__ import annotations

import re

from hwtop.job.log.level import GLOG_DAY, NAMES
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex

_ANSI = lazy_regex(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~])?"
)
"""ECMA-48 escape sequences. A lone ESC is dropped too. None goes on after the line's end."""
_ANSI_BYTES = lazy_regex(_ANSI.pattern.encode())
_DIRTY = lazy_regex(r"[\x00\x08\r\x1b]")
_OTHER_LINE = lazy_regex(r"\x1b(?:\[[\d;]*[ABEFHdf]|[DEM])")
"""Cursor up, down, to another row (ECMA-48 CUU, CUD, CNL, CPL, CUP, VPA; IND, NEL, RI): bars below each other use them."""
_OTHER_LINE_BYTES = lazy_regex(_OTHER_LINE.pattern.encode())

CARET_RETURN = lazy_regex(r"\^M|#015")
"""Carriage returns as `cat -v` and syslog write them."""
_RUBBED_CHARS = 20_000
"""Of a line with backspaces: a bar of Keras rubs itself out whole at each step, for a whole epoch in one line."""

_LAUNCHER = lazy_regex(
    r"""\s*(?:
      \[(?:rank|default|trainer|worker)\s?:?\s*(?P<torchrun>\d+)\](?::\s?|\s(?=\S))  # [rank0]: [default0]: [rank: 0]
    | \[\d+,(?P<mpirun>\d+)\]<(?:stdout|stderr|stddiag)>:\s?                 # mpirun --tag-output: [1,3]<stdout>:
    | \[rank[ -]?(?P<custom>\d+)(?:/[^\]]*)?\]\s?:?\s?                       # TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE
    | \[Rank\ (?P<deepspeed>\d+)\]\s
    | (?P<srun>\d{1,5}):\ (?=\S|$)                                           # srun --label
    | \((?:RayTrainWorker|RayWorker\w*|TrainTrainable|\w+Actor|\w+Worker\w*)\s+pid=\d+(?:,\ ip=[^)]*)?\)\s?  # Ray
    | \[(?:stderr|stdout)\]\s?
    )""",
    re.VERBOSE,
)
_RANK_INSIDE = lazy_regex(r"\[(?:PG [^\]]{0,120}?)?[Rr]ank[ -]?(\d+)(?:/\d+)?\]")
_OWN_LABEL = lazy_regex(
    rf"(?:\s*(?:{NAMES})\b)?[\[(<|\s]*(?:(?:global[ _-]?)?rank|gpu|r)[ :=#_-]{{0,2}}(\d{{1,5}})(?![\w.])"  # rank 1 step 5, [R1] step 5, (GPU1) step 5
    r"|.{0,160}?\brank[\"']?\s?[:=]\s?(\d{1,5})(?![\w.])",  # {"step": 5, "rank": 1}, step=5 rank=1
    re.IGNORECASE,
)
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_LOGGING_PREFIX = lazy_regex(
    rf"""\s*(?:
      (?:INFO|WARNING|DEBUG):(?!tensorflow)[\w.]+:\s*  # Python's logging as it comes
    | root:\s*
    | (?:>\ )?(?:\[[\d/:.,\ -]+\])?\[[\w.]+\]\[(?:INFO|WARNING|DEBUG)\]\s+-\s*  # Hydra
    | [\[(]?(?:Main(?:Process|Thread)|(?:(?:Fork|Spawn|ForkServer)?Process|Thread)-\d+)[\])]?[\s:|-]\s*  # of a process or thread
    | \(\w+\ pid=\d+(?:,\ ip=[^)]*)?\)\s*           # Ray's name of a process
    |
      \[?{_DATE}\]?(?:\[\w+\])?[\s,|:-]*               # 2024-01-02 03:04:05,678
    | \[\d\d/\d\d\ \d\d:\d\d:\d\d\]\s*                 # [12/19 14:31:31]
    | \[\s*\d+(?:\.\d+)?\s?s\]\s*                    # [   6.57s], since the start
    | \[titan\]\s*
    | \[?(?:{NAMES})\s*\]?\s*(?:[|:-]\s*|(?<=\])|(?=\[))  # INFO: / [INFO] / INFO -
    | root\s+-\s+
    | \[[\w./-]+\.(?:py|cc|cpp):\d+(?::[\w<>]+)?\]\s*:?\s*  # [logging.py:96:log_dist]
    | [IWEFD]{GLOG_DAY}\ \d\d:\d\d:\d\d\.\d+\s+\d*\s*\S+:\d+\]\s*  # absl and glog
    )+""",
    re.VERBOSE,
)


def clean(raw: str) -> str:
    """What a terminal would show in the end: escape sequences and NULs gone, backspaces and carriage returns carried out.

    Of the parts between carriage returns the last one that is not blank is kept: a bar is redrawn whole.
    """
    if _DIRTY.search(raw) is None:
        return raw
    text = raw.replace("\x00", "")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        parts = [part for part in text.split("\r") if part.strip(" \b")]
        text = parts[-1] if parts else ""
    return _rub_out(text[-_RUBBED_CHARS:]) if "\x08" in text else text


def plain(raw: bytes) -> bytes:
    """Many raw lines without escape sequences: a word that is coloured in parts is one word again.

    A move to another row becomes a carriage return: what follows is another text.
    """
    return _ANSI_BYTES.sub(b"", _OTHER_LINE_BYTES.sub(b"\r", raw)) if b"\x1b" in raw else raw


def shown(raw: str) -> list[str]:
    """The same of a line that moves the cursor to other rows, as several bars below each other do: one text for each row.

    Never empty: a line that shows nothing is [""].
    """
    if "\x1b" not in raw:
        return [clean(raw)]
    rows = [clean(part) for part in _OTHER_LINE.split(raw)]
    return [row for row in rows if row.strip()] or [""]


def without_launcher(text: str) -> tuple[int | None, str]:
    """(rank, text without the launcher's prefix) of a line of torchrun, srun --label, mpirun --tag-output, Ray or DeepSpeed.

    The rank is None where nothing in the line tells it. srun's task number is taken for the rank.
    """
    rank: int | None = None
    while (found := _LAUNCHER.match(text)) is not None:
        number = next((group for group in found.groups() if group is not None), None)
        rank = whole_number(number) if rank is None else rank
        text = text[found.end() :]
    if rank is None and (inside := _RANK_INSIDE.search(text, 0, 200)):
        rank = whole_number(inside.group(1))
    return rank, text


def labelled_rank(body: str) -> int | None:
    """The rank that the program itself writes into its lines, in front or as a field. A guess: only where it can be one of the writers."""
    found = _OWN_LABEL.match(body)
    return whole_number(found.group(1) or found.group(2)) if found else None


def without_logger(text: str) -> str:
    """The text without date, level and source that a logging library puts first, and without a launcher's prefix behind them."""
    found = _LOGGING_PREFIX.match(text)
    return text if found is None else without_launcher(text[found.end() :])[1]


def storable(text: str) -> str:
    """Bytes of a file name that are not UTF-8, which Python holds as surrogates and no encoder takes, as "?"."""
    return text.encode("utf-8", "replace").decode()


def visible(text: str) -> str:
    """Control characters as pictures of themselves (U+2400 block), tabs as spaces: safe to print on any terminal."""
    if text.isprintable():
        return text
    return "".join(_picture(char) for char in text)


def _picture(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if char == "\t":
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"


def _rub_out(text: str) -> str:
    """A backspace moves the cursor left and erases nothing: what follows is written over what was there."""
    shown: list[str] = []
    cursor = 0
    for char in text:
        if char == "\b":
            cursor = max(0, cursor - 1)
            continue
        shown[cursor : cursor + 1] = [char]
        cursor += 1
    return "".join(shown)
