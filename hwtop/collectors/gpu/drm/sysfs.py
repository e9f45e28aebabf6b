"""The cards of the kernel's DRM subsystem and the small files in which a driver describes one (/sys/class/drm)."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hwtop.collectors.procfs import read_text, reason_of

_CARD = re.compile(r"card\d+")
_NUMBER = re.compile(r"-?[0-9]{1,20}")
"""No kernel counter has more than 64 bits."""
_PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Card(NamedTuple):
    """One PCI device that a DRM driver has taken."""

    card: str
    """/sys/class/drm/cardN."""
    device: str
    """The device itself, without symbolic links: /sys/devices/pci0000:00/..."""
    pci_bus_id: str
    driver: str
    """Name of the kernel's driver; "" where none is bound."""
    device_id: int


class NotReported(ValueError):  # noqa: N818 (no mistake: a number that is not to be had)
    """A number that the driver does not report; the message says why."""


class Files:
    """Reads the files of one device. Any of them may hang when the device is faulty."""

    def __init__(self) -> None:
        self.doing = ""
        """The file that is being read now: another thread asks for it when it hangs."""

    def text(self, path: str) -> str:
        """The whole file without the newline at its end.

        Raises:
            OSError: as the kernel said.
        """
        self.doing = path
        return read_text(path).strip()

    def number(self, path: str) -> int:
        """A file that holds one number.

        Raises:
            OSError: as the kernel said.
            ValueError: it holds something else.
        """
        text = self.text(path)
        if not _NUMBER.fullmatch(text):
            raise NotReported(f"{path} holds no number: {text[:40]!r}")
        return int(text)

    def raw(self, path: str) -> bytes:
        """A file that is no text.

        Raises:
            OSError: as the kernel said.
        """
        self.doing = path
        with open(path, "rb", buffering=0) as file:
            return file.readall()


class Fields:
    """Values of one reading by the name of their field, and the reason of each that could not be read."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.missing: dict[str, str] = {}
        self._refused: set[str] = set()

    def take(self, field: str, ask: Callable[[], Any]) -> None:
        """Fill `field` with what `ask` answers, or note why it cannot."""
        try:
            self.values[field] = ask()
        except (OSError, ValueError) as error:
            self.fail(error, field)

    def fail(self, error: Exception, *fields: str) -> None:
        """Note why several fields cannot be read."""
        self.lack(why(error), *fields)
        if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.EACCES):
            self._refused.update(fields)

    def refusal(self, levels: tuple[str, ...]) -> str | None:
        """Why the device reports none of `levels`, if it refuses any of them: their files exist, their driver refuses.

        EPERM is how amdgpu says that it resets the GPU, ENODEV how any driver says that the device is gone; a file that is
        not there, or not for this user (EACCES), is no sign of sickness.
        """
        refused = [level for level in levels if level in self._refused]
        has_any = any(self.values.get(level) is not None for level in levels)
        return None if has_any or not refused else self.missing[refused[0]]

    def lack(self, reason: str, *fields: str) -> None:
        """Note one reason for several fields."""
        self.missing.update(dict.fromkeys(fields, reason))


def why(error: Exception) -> str:
    """The reason for a user: a file that does not exist is a number that this driver does not report."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"not reported by the driver of this GPU (no file {os.path.basename(os.fsdecode(error.filename))})"
    return reason_of(error)


def has_drm(sys: str) -> bool:
    """False on a machine without DRM at all: another system than Linux, or a kernel without any graphics driver."""
    return os.path.isdir(f"{sys}/class/drm")


def cards_of(sys: str, vendor_id: int) -> list[Card]:
    """All PCI devices of one vendor (0x1002 is AMD, 0x8086 is Intel), by PCI address.

    A device with several cards, as an MI300 in partitions, comes once. The files read here are kept by the kernel: they
    answer without the device.
    """
    found: dict[str, Card] = {}
    for name in sorted(_names(f"{sys}/class/drm"), key=_natural):
        if not _CARD.fullmatch(name):
            continue
        card = f"{sys}/class/drm/{name}"
        device = os.path.realpath(f"{card}/device")
        try:
            if int(read_text(f"{device}/vendor"), 16) != vendor_id or not _PCI_ADDRESS.fullmatch(_base(device)):
                continue
            found.setdefault(device, Card(card, device, _base(device), _driver(device), _hex(f"{device}/device")))
        except (OSError, ValueError):  # no PCI device, or one that has just gone
            continue
    return sorted(found.values(), key=lambda entry: entry.pci_bus_id)


def hwmon_of(device: str, name: str) -> str | None:
    """The sensors' directory of the device that its driver calls `name`; a device may have others, of its parts."""
    for entry in sorted(_names(f"{device}/hwmon"), key=_natural):
        path = f"{device}/hwmon/{entry}"
        try:
            if read_text(f"{path}/name").strip() == name:
                return path
        except OSError:
            continue
    return None


def folders(path: str, prefix: str) -> list[str]:
    """Directories "PREFIX0", "PREFIX1" ... below `path`, in order."""
    return [
        f"{path}/{name}"
        for name in sorted(_names(path), key=_natural)
        if name.startswith(prefix) and name[len(prefix) :].isdigit()
    ]


def is_asleep(device: str) -> bool:
    """The kernel has switched the device off to save power (runtime PM); many reads would wake it."""
    try:
        return read_text(f"{device}/power/runtime_status").strip() == "suspended"
    except OSError:
        return False


def _driver(device: str) -> str:
    try:
        return _base(os.readlink(f"{device}/driver"))
    except OSError:
        return ""


def _hex(path: str) -> int:
    return int(read_text(path), 16)


def _base(path: str) -> str:
    return os.path.basename(path)


def _natural(name: str) -> tuple[str, int]:
    digits = re.search(r"\d+$", name)
    return (name, 0) if digits is None else (name[: digits.start()], int(digits.group()))


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
