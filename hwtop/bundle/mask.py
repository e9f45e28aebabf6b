"""Mask: hides secrets in all that leaves with a bundle, and hosts, users or paths where the user wants it; counts what it hid."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from hwtop.job.secrets import MASK, Hidden, masked_text
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot

_MOST_REMEMBERED = 50_000
"""Texts whose masked form is kept: most are the same in each snapshot."""
_HOST_VARIABLES = ("MASTER_ADDR", "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_IP")
_KNOWN_TO_ALL = frozenset({"localhost", "root", "0.0.0.0", "127.0.0.1"})  # noqa: S104 (not bound to)
_ADDRESS = re.compile(
    r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\w|\.\d)"
    r"|(?<![\w:])(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6})(?![\w:])"
)
"""IPv4 and IPv6; not the "v9.1.0.70" of a version."""
_PATH = re.compile(
    r"(?<![\w.:/>-])/(?!(?:proc|sys|dev|usr|lib|lib64|etc|bin|sbin)(?:/|\b))(?P<folder>(?:[^\s/:;,\"'()<>|*=]+/)*)(?P<last>[^\s/:;,\"'()<>|*=]*)"
)
"""An absolute path; those of the operating system tell nothing. The path of a URL follows a name, so it is none."""
_LIBRARY = re.compile(r"(?:lib/python[\d.]+/|site-packages/|dist-packages/).*")
"""What follows the folder of an installation is the same everywhere."""


class Mask:
    """One for each bundle: the same folder has the same number everywhere in it."""

    def __init__(self, hidden: Collection[Hidden] = ()) -> None:
        """`hidden`: what else than secrets is masked."""
        self.hidden = frozenset(hidden)
        self.counts: dict[str, Counter[str]] = {}
        """Member -> kind -> how many different texts hold it."""
        self._names: dict[str, str] = {}
        self._name = re.compile(r"(?!)")
        self._folders: dict[str, int] = {}
        self._done: dict[tuple[str, str], str] = {}
        self._learn("HOST", [os.uname().nodename])

    def text(self, text: str, member: str) -> str:
        """As it may leave, in this member."""
        key = (member, text)
        found = self._done.get(key)
        if found is None:
            if len(self._done) >= _MOST_REMEMBERED:
                self._done.clear()
            found = self._done[key] = self._masked(text, self.counts.setdefault(member, Counter()))
        return found

    def value(self, value: Any, member: str) -> Any:
        """Dicts, lists and texts in each other, all texts masked."""
        if isinstance(value, str):
            return self.text(value, member)
        if isinstance(value, dict):
            return {self.value(key, member): self.value(entry, member) for key, entry in value.items()}
        return [self.value(entry, member) for entry in value] if isinstance(value, (list, tuple)) else value

    def snapshot(self, snapshot: Snapshot, member: str) -> Snapshot:
        """The same Snapshot, all texts masked."""
        self.learn(snapshot)
        return msgspec.convert(self.value(msgspec.to_builtins(snapshot), member), Snapshot)

    def frame(self, frame: Frame, member: str) -> Frame:
        """The same frame, all texts masked but those of its history: of that only numbers are shown."""
        job = frame.derived.job
        self._learn("HOST", [frame.derived.host])
        self._learn("USER", [item.user for item in (job.processes if job else ()) if item.user])
        bare = msgspec.structs.replace(frame, history=())
        masked = msgspec.convert(self.value(msgspec.to_builtins(bare), member), Frame)
        return msgspec.structs.replace(masked, history=(*frame.history[:-1], masked.derived))

    def learn(self, snapshot: Snapshot) -> None:
        """Which names of hosts and users there are."""
        processes = snapshot.process.processes if snapshot.process is not None else ()
        hosts = [
            process.env[name] for process in processes if process.env for name in _HOST_VARIABLES if name in process.env
        ]
        self._learn("HOST", [snapshot.host, *hosts])
        self._learn("USER", [process.user for process in processes if process.user])

    def _learn(self, stand_in: str, names: Iterable[str]) -> None:
        if (stand_in == "HOST" and "hosts" not in self.hidden) or (stand_in == "USER" and "users" not in self.hidden):
            return
        known = len(self._names)
        for name in names:
            for form in (name, name.partition(".")[0]):
                if form and form not in _KNOWN_TO_ALL and not form.isdigit():
                    self._names.setdefault(form, stand_in)
        if len(self._names) > known:
            longest_first = sorted(self._names, key=len, reverse=True)
            self._name = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
            self._done.clear()

    def _masked(self, text: str, counts: Counter[str]) -> str:
        before = text.count(MASK)
        if before:
            counts["masked when it was read"] += before
        text = masked_text(text, counts)
        if self._names:
            text = self._counted(
                self._name, lambda found: self._names[found[0]], text, counts, "name of a host or user"
            )
        if "hosts" in self.hidden:
            text = self._counted(_ADDRESS, lambda _: "ADDRESS", text, counts, "address")
        if "paths" in self.hidden:
            text = self._counted(_PATH, self._path, text, counts, "path")
        return text

    @staticmethod
    def _counted(pattern: re.Pattern[str], stand_in: Any, text: str, counts: Counter[str], kind: str) -> str:
        text, count = pattern.subn(stand_in, text)
        if count:
            counts[kind] += count
        return text

    def _path(self, found: re.Match[str]) -> str:
        """`/dir3/train.py`: a name of a file stays, the name of a folder does not."""
        folder, last = found["folder"], found["last"]
        library = _LIBRARY.search(folder)
        kept = library[0] if library is not None else ""
        hidden = folder[: len(folder) - len(kept)]
        if not kept and "." not in last:
            hidden, last = f"{hidden}{last}", ""
        if not hidden:
            return found[0]
        number = self._folders.setdefault(hidden.rstrip("/"), len(self._folders) + 1)
        return f"/dir{number}" + (f"/{kept}{last}" if kept or last else "")
