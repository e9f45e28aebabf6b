"""Reading the small text files of /proc and /sys: whole file at once, and one-line reasons when that fails."""

from __future__ import annotations

import os


def read_text(path: str) -> str:
    """The whole file; bytes that are not UTF-8 become U+FFFD.

    Raises:
        OSError: as the kernel said, with the path in it also when the failure came from read(2) and not from open(2).
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall().decode("utf-8", "replace")
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise


def reason_of(error: Exception) -> str:
    """One line that says what could not be read and why, for the `missing` of a reading."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {(error.strerror or type(error).__name__).lower()}"
    return " ".join(str(error).split()) or type(error).__name__


def named_numbers(text: str) -> dict[str, int]:
    """Lines of "name number", as in /proc/vmstat, cpu.stat, memory.stat and memory.events; other lines are left out."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[1].isdecimal():
            found[words[0]] = int(words[1])
    return found
