"""Short file names for frames that came without: as py-spy makes them, so that phases and groups know them. Pure.

py-spy shortens a path to what lies inside its outermost Python package (a folder with `__init__.py`), and a script outside
of any package to its bare name. Here no file is looked at: installed packages and the standard library are known by their
folder, packages of the user's own by the frames of earlier dumps.
"""

from __future__ import annotations

from collections.abc import Iterable

from hwtop.lazy_regex import lazy_regex
from hwtop.model.stack import StackDump

_INSTALLED = lazy_regex(r".*/(?:site|dist)-packages/|.*?/lib(?:64)?/(?:python|pypy)3\.\d+t?/|.*?/python3\d+\.zip/")
_KEPT = 20_000
"""Names that are remembered; a job runs some thousands of files."""


class ShortNames:
    """Remembers what dumps told; one for all processes of a job, which run the same code."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._packages: dict[str, int] = {}
        """Folder of a package, with a slash at its end -> how much of it lies outside the package."""

    def learn(self, dumps: Iterable[StackDump]) -> None:
        """Take in frames that have both names."""
        if len(self._known) > _KEPT:
            self._known.clear()
        for dump in dumps:
            for thread in dump.threads:
                for frame in thread.frames:
                    self._learn(frame.filename, frame.short_filename)

    def of(self, filename: str) -> str:
        """The short name of a file."""
        short = self._known.get(filename)
        if short is None:
            short = self._known[filename] = self._guess(filename)
        return short

    def _learn(self, filename: str, short: str) -> None:
        if self._known.get(filename) == short:
            return
        self._known[filename] = short
        if "/" in short and not short.startswith("/") and filename.endswith("/" + short):
            outside = len(filename) - len(short)
            self._packages[filename[: outside + short.index("/") + 1]] = outside

    def _guess(self, filename: str) -> str:
        if filename.startswith("<"):
            return filename
        if installed := _INSTALLED.match(filename):
            return filename[installed.end() :]
        package = max((each for each in tuple(self._packages) if filename.startswith(each)), key=len, default=None)
        return filename[self._packages[package] :] if package else filename.rsplit("/", 1)[-1]
