"""Config: what a person has written into `~/.config/hwtop/config.toml`. Flags of the command line go before it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import msgspec
from msgspec import Struct

from hwtop.errors import UsageError
from hwtop.model.log import Severity
from hwtop.paths import config_folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LARGEST_BYTES = 1 << 20


class ScreenConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen looks where no flag says otherwise."""

    interval: str = "1s"
    theme: str = "auto"
    ascii: bool = False
    mouse: bool = True
    readonly: bool = False


class SymptomConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which symptoms are looked for, and which of them may call."""

    off: tuple[str, ...] = ()
    """Never judged."""
    quiet: tuple[str, ...] = ()
    """Shown as notes only: no warning, no alert, no exit code 1."""
    thresholds: dict[str, dict[str, float]] = {}
    """Symptom -> name -> value, in place of the default."""


EVERY_SYMPTOM = SymptomConfig()


class AlertConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen calls when something is found: each symptom once until it has cleared."""

    severity: Severity = "warning"
    bell: bool = False
    desktop: bool = False
    """By the terminal (OSC 9 and OSC 777)."""
    webhook: str = ""
    """An http or https address that gets a JSON object by POST; empty = none."""
    command: str = ""
    """Run by the shell with HWTOP_SYMPTOM, HWTOP_SEVERITY, HWTOP_TITLE and HWTOP_PID set; empty = none."""


NO_ALERTS = AlertConfig()


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. Everything may be left out."""

    screen: ScreenConfig = ScreenConfig()
    symptoms: SymptomConfig = SymptomConfig()
    alerts: AlertConfig = AlertConfig()


TEMPLATE = """\
# Settings of hwtop. What stands here behind a # is what holds without it. Flags of the command line go before this file.
# `hwtop config check` tells whether hwtop understands it, `hwtop config show` what holds in the end.

[screen]
# interval = "1s"       # between two looks
# theme = "auto"        # "hwtop", "light", "high-contrast", "colour-blind", "16-colours", "nord", ...; a wrong name lists all
# ascii = false         # no block or braille characters
# mouse = true
# readonly = false      # offer nothing that changes the job

[symptoms]              # `hwtop symptoms` lists them
# off = []              # never judged, e.g. ["loss-plateau", "disk-nearly-full"]
# quiet = []            # shown as notes only: no warning, no alert, no exit code 1

[symptoms.thresholds]   # e.g. shm-nearly-full.used_pct = 80; `hwtop config show` lists all that can be set

[alerts]                # the screen calls when something is found: each symptom once until it has cleared
# severity = "warning"  # from here on: "info", "warning" or "critical"
# bell = false          # the terminal's bell
# desktop = false       # a notification by the terminal (OSC 9 and 777: iTerm2, kitty, WezTerm, Windows Terminal, ...)
# webhook = ""          # an address that gets a JSON object by POST, e.g. of a chat
# command = ""          # run by the shell, with HWTOP_SYMPTOM, HWTOP_SEVERITY, HWTOP_TITLE and HWTOP_PID
"""


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the file is looked for when no --config names one."""
    return config_folder(environ) / "config.toml"


def load(path: str | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The settings. Without `path` those of the usual place, or the defaults where there is no file.

    Raises:
        UsageError: the file cannot be read or understood; the message names the place and what would do.
    """
    place = Path(path) if path is not None else default_path(environ)
    try:
        with place.open("rb") as file:
            raw = file.read(_LARGEST_BYTES + 1)
    except FileNotFoundError:
        if path is None:
            return Config()
        raise UsageError(f"{path}: no such file: `hwtop config init` writes one to {default_path(environ)}") from None
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}: give a settings file that you may read") from error
    if len(raw) > _LARGEST_BYTES:
        raise UsageError(f"{place}: larger than 1 MiB: this is no settings file")
    return parse(raw, str(place))


def parse(raw: bytes, name: str) -> Config:
    """The settings in the text of a file called `name`.

    Raises:
        UsageError: as for `load`.
    """
    try:
        return msgspec.convert(tomllib.loads(raw.decode("utf-8-sig")), Config)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: no UTF-8 text: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: no TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {_advice(str(error))}") from error


def _advice(text: str) -> str:
    """msgspec's words, with the name that was meant where one is near."""
    unknown = re.search(r"unknown field `([^`]*)`", text)
    if unknown is None:
        return f"{text}; `hwtop config init` shows what may stand there"
    known = [name for part in (Config, ScreenConfig, SymptomConfig, AlertConfig) for name in part.__struct_fields__]
    near = get_close_matches(unknown[1], known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`hwtop config init` shows what may stand there"
    return f"no setting {unknown[1]!r}: {hint}"
