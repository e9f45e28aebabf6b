"""Config: what a person has written into `~/.config/hwtop/config.toml`. Flags of the command line go before it.

A field with its description is all that a setting needs: the template of `hwtop config init` and the screen of settings
(F2) are made from them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from hwtop.config.panel_grid import no_drawing, no_panels
from hwtop.errors import UsageError
from hwtop.model.log import Severity
from hwtop.paths import config_folder
from hwtop.seconds import seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INTERVAL_S = (0.2, 60.0)
"""Shortest and longest time between two looks."""
_LARGEST_BYTES = 1 << 20


class ScreenConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen looks where no flag says otherwise."""

    interval: Annotated[str, Meta(description="between two looks: 500ms, 2s, 1m")] = "1s"
    theme: Annotated[str, Meta(description='"auto", "hwtop", "light", "nord", ...; a wrong name lists all')] = "auto"
    ascii: Annotated[bool, Meta(description="no block or braille characters")] = False
    mouse: Annotated[bool, Meta(description="click and wheel; false leaves the mouse to the terminal")] = True
    readonly: Annotated[bool, Meta(description="offer nothing that changes the job")] = False


class SymptomConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which symptoms are looked for, and which of them may call."""

    off: Annotated[tuple[str, ...], Meta(description='never judged, e.g. ["loss-plateau", "disk-nearly-full"]')] = ()
    quiet: Annotated[
        tuple[str, ...], Meta(description="shown as notes only: no warning, no alert, no exit code 1")
    ] = ()
    thresholds: Annotated[
        dict[str, dict[str, float]],
        Meta(description="e.g. shm-nearly-full.used_pct = 80; `hwtop config show` lists all that can be set"),
    ] = {}
    """Symptom -> name -> value, in place of the default."""


EVERY_SYMPTOM = SymptomConfig()


class AlertConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen calls when something is found: each symptom once until it has cleared."""

    severity: Annotated[Severity, Meta(description='from here on: "info", "warning" or "critical"')] = "warning"
    bell: Annotated[bool, Meta(description="the terminal's bell")] = False
    desktop: Annotated[
        bool,
        Meta(
            description="a notification by the terminal (OSC 9 and 777: iTerm2, kitty, WezTerm, Windows Terminal, ...)"
        ),
    ] = False
    webhook: Annotated[str, Meta(description="an address that gets a JSON object by POST, e.g. of a chat")] = ""
    command: Annotated[
        str, Meta(description="run by the shell, with HWTOP_SYMPTOM, HWTOP_SEVERITY, HWTOP_TITLE and HWTOP_PID")
    ] = ""


NO_ALERTS = AlertConfig()


class BaselineConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What hwtop remembers of the jobs that it has watched."""

    learn: Annotated[
        bool, Meta(description="remember the pace of quiet runs, and tell when the same command is slower")
    ] = True


LEARN = BaselineConfig()


class PanelConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which panels the screen shows, and where those of the overview stand (`panel_grid` tells how that is drawn)."""

    hide: Annotated[tuple[str, ...], Meta(description='not shown beside others, e.g. ["disk", "network"]')] = ()
    overview: Annotated[
        tuple[str, ...],
        Meta(description='lines of panels, as drawn: ["findings findings cpu", "gpu gpu memory", "ranks ranks logs"]'),
    ] = ()


EVERY_PANEL = PanelConfig()


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. Everything may be left out."""

    screen: Annotated[ScreenConfig, Meta(description="flags of the command line go before these")] = ScreenConfig()
    symptoms: Annotated[SymptomConfig, Meta(description="`hwtop symptoms` lists them")] = SymptomConfig()
    alerts: Annotated[
        AlertConfig,
        Meta(description="the screen calls when something is found: each symptom once until it has cleared"),
    ] = AlertConfig()
    baselines: Annotated[
        BaselineConfig, Meta(description="medians only, under ~/.local/state/hwtop/learned; see `hwtop baseline`")
    ] = LEARN
    panels: Annotated[
        PanelConfig,
        Meta(description="a line shares the screen evenly; a panel named more than once covers all its cells"),
    ] = EVERY_PANEL
    keys: Annotated[
        dict[str, str | tuple[str, ...]],
        Meta(description='keys of your own, e.g. pause = "Z", help = ["?", "F1"]; `hwtop config show` lists all'),
    ] = {}
    """Name of an action -> its keys, in place of the usual ones."""


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the file is looked for when no --config names one."""
    return config_folder(environ) / "config.toml"


def load(path: str | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The settings. Without `path` those of the usual place, or the defaults where there is no file.

    Raises:
        UsageError: the file cannot be read or understood; the message names the place and what would do.
    """
    place = Path(path) if path is not None else default_path(environ)
    raw = read(place)
    if raw is not None:
        return parse(raw, str(place))
    if path is not None:
        raise UsageError(f"{path}: no such file: `hwtop config init --config {path}` writes one to begin with")
    return Config()


def read(place: Path) -> bytes | None:
    """What the file holds; None where there is none.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    try:
        with place.open("rb") as file:
            raw = file.read(_LARGEST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{place}: {reason}: give a settings file that you may read") from error
    if len(raw) > _LARGEST_BYTES:
        raise UsageError(f"{place}: larger than 1 MiB: this is no settings file")
    return raw


def parse(raw: bytes, name: str) -> Config:
    """The settings in the text of a file called `name`.

    Raises:
        UsageError: as for `load`.
    """
    try:
        config = msgspec.convert(tomllib.loads(raw.decode("utf-8-sig")), Config)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: no UTF-8 text: save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: no TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {_advice(str(error))}") from error
    for (section, field), problem_of in FORMS.items():
        problem = problem_of(getattr(getattr(config, section), field))
        if problem is not None:
            raise UsageError(f"{name}: {section}.{field}: {problem}")
    return config


def _no_time(text: str) -> str | None:
    found = seconds(text)
    if found is None:
        return f"{text[:40]!r} is not a time: write 500ms, 2s or 1m"
    least, most = INTERVAL_S
    return None if least <= found <= most else f"{text[:40]} is out of range: {least:g} to {most:g} seconds"


def _no_address(text: str) -> str | None:
    is_fine = not text or re.fullmatch(r"https?://[^\s/]\S*", text)
    return None if is_fine else f"{text[:40]!r} is no address: write https://..."


FORMS: dict[tuple[str, ...], Callable[[Any], str | None]] = {
    ("screen", "interval"): _no_time,
    ("alerts", "webhook"): _no_address,
    ("panels", "hide"): no_panels,
    ("panels", "overview"): no_drawing,
}
"""Values that must have a form: what is wrong with one, in words."""


_KINDS = {
    "object": "a section",
    "array": "a list",
    "str": "a text in quotes",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
}
"""What a value is."""


def _advice(text: str) -> str:
    """msgspec's words in those of people, with the name that was meant where one is near."""
    place = re.search(r" - at `\$\.?([^`\[]*)", text)
    where = f"{place[1]}: " if place is not None and place[1] else ""
    expected = re.search(r"Expected `([^`]*)`, got `([^`]*)`", text)
    if expected is not None:
        wanted, given = (
            " or ".join(_KINDS.get(kind, kind) for kind in each.split(" | ")) for each in expected.groups()
        )
        return f"{where}{wanted} is wanted, not {given}; `hwtop config init` shows what may stand there"
    unknown = re.search(r"unknown field `([^`]*)`", text)
    if unknown is None:
        return f"{where}{text.partition(' - at ')[0]}; `hwtop config init` shows what may stand there"
    near = get_close_matches(unknown[1], _names(Config), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`hwtop config init` shows what may stand there"
    return f"no setting {unknown[1]!r}: {hint}"


def _names(struct: type[Struct]) -> list[str]:
    """Of all fields, those of the sections too."""
    names = list(struct.__struct_fields__)
    for value in (getattr(struct(), name) for name in struct.__struct_fields__):
        names += _names(type(value)) if isinstance(value, Struct) else []
    return names
