"""Config: the user's settings in `~/.config/hwtop/config.toml`. Command-line flags override them.

A setting is a field with its description: the template of `hwtop config init` and the settings screen (F2) are made from
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli
from msgspec import Meta, Struct

from hwtop.config.panel_grid import no_drawing, no_panels
from hwtop.errors import UsageError
from hwtop.model.reported.log import Severity
from hwtop.model.reported.ras import RasPolicy
from hwtop.paths import config_folder
from hwtop.seconds import seconds
from hwtop.suggestion import did_you_mean

INTERVAL_S = (0.2, 60.0)
"""Shortest and longest time between two samples."""
_LARGEST_BYTES = 1 << 20


class ScreenConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen looks, unless a flag overrides it."""

    interval: Annotated[str, Meta(description="time between two samples: 500ms, 2s, 1m")] = "1s"
    theme: Annotated[str, Meta(description='"auto", "hwtop", "light", "nord", ...; an unknown name lists all')] = "auto"
    ascii: Annotated[bool, Meta(description="no block or braille characters")] = False
    mouse: Annotated[bool, Meta(description="capture click and wheel; false leaves them to the terminal")] = True
    readonly: Annotated[bool, Meta(description="disable all actions that change the job")] = False
    idle_interval: Annotated[
        str,
        Meta(description="interval after a minute without a key, while nothing is wrong; 1s: not longer than usual"),
    ] = "2s"


class SymptomConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which symptoms are checked, and which of them may alert."""

    off: Annotated[tuple[str, ...], Meta(description='never checked, e.g. ["loss-plateau", "disk-nearly-full"]')] = ()
    quiet: Annotated[
        tuple[str, ...], Meta(description="reported as info only: no warning, no alert, no exit code 1")
    ] = ()
    thresholds: Annotated[
        dict[str, dict[str, float]],
        Meta(description="e.g. shm-nearly-full.used_pct = 80; `hwtop config show` lists all"),
    ] = {}
    """Symptom -> name -> value, in place of the default."""


EVERY_SYMPTOM = SymptomConfig()


class AlertConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the screen alerts: once per symptom, until it has cleared."""

    severity: Annotated[Severity, Meta(description='lowest severity that alerts: "info", "warning" or "critical"')] = (
        "warning"
    )
    bell: Annotated[bool, Meta(description="ring the terminal bell")] = False
    desktop: Annotated[
        bool,
        Meta(
            description="desktop notification by the terminal (OSC 9 and 777: iTerm2, kitty, WezTerm, Windows Terminal, ...)"
        ),
    ] = False
    webhook: Annotated[str, Meta(description="URL that gets a JSON object by POST, e.g. of a chat")] = ""
    command: Annotated[
        str,
        Meta(
            description="shell command, with the finding as JSON on standard input, and HWTOP_SYMPTOM, HWTOP_SEVERITY, HWTOP_TITLE and HWTOP_PID set"
        ),
    ] = ""


NO_ALERTS = AlertConfig()


class BaselineConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What hwtop stores about the jobs that it has watched."""

    learn: Annotated[
        bool, Meta(description="store medians of runs without problems, and report when the same command is slower")
    ] = True


LEARN = BaselineConfig()


class IncidentConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What hwtop saves of a job that hangs or crashes."""

    save: Annotated[
        bool, Meta(description="save stacks, logs and the like once, before the job ends; `hwtop incidents` lists them")
    ] = True


SAVE = IncidentConfig()


FlightPlace = Literal["memory", "disk", "off"]


class RecordingConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What hwtop keeps of a job while the screen, `wait` or `record` watches it."""

    flight: Annotated[
        FlightPlace,
        Meta(
            description='where the last 30 minutes are kept, for the keys R and B and for incidents: "memory", "disk" (what is left after a crash of the machine) or "off"'
        ),
    ] = "memory"


KEEP = RecordingConfig()


class StackConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How Python stacks are read."""

    sudo: Annotated[
        bool, Meta(description="if py-spy is refused, run it as root with `sudo -n`; same as the flag --sudo")
    ] = False


NO_SUDO = StackConfig()


class NcclConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What NCCL is asked while a job looks stuck."""

    ras: Annotated[
        RasPolicy,
        Meta(
            description='RAS port, for ranks on all nodes: "auto" (NCCL 2.28.7 and later), "any-version" (2.24 to 2.27 may crash the job when asked), "off"'
        ),
    ] = "auto"


ASK_NCCL = NcclConfig()


class PanelConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which panels the screen shows, and the layout of the overview (see `panel_grid`)."""

    hide: Annotated[tuple[str, ...], Meta(description='panels to hide, e.g. ["disk", "network"]')] = ()
    overview: Annotated[
        tuple[str, ...],
        Meta(description='layout, one string per row: ["findings findings cpu", "gpu gpu memory", "ranks ranks logs"]'),
    ] = ()


EVERY_PANEL = PanelConfig()


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. Everything is optional."""

    screen: Annotated[ScreenConfig, Meta(description="command-line flags override these")] = ScreenConfig()
    symptoms: Annotated[SymptomConfig, Meta(description="`hwtop symptoms` lists them")] = SymptomConfig()
    alerts: Annotated[
        AlertConfig,
        Meta(description="when a symptom is raised: once per symptom, until it has cleared"),
    ] = AlertConfig()
    baselines: Annotated[
        BaselineConfig,
        Meta(description="medians only, stored in ~/.local/state/hwtop/learned; see `hwtop baseline -h`"),
    ] = LEARN
    incidents: Annotated[IncidentConfig, Meta(description="stored in ~/.local/state/hwtop/incidents")] = SAVE
    recording: Annotated[RecordingConfig, Meta(description="on disk: ~/.local/state/hwtop/flight")] = KEEP
    stacks: Annotated[
        StackConfig, Meta(description="py-spy must be stored where only root can change it, e.g. /usr/local/bin")
    ] = NO_SUDO
    nccl: Annotated[
        NcclConfig, Meta(description="asked at most every 30 s while a job looks stuck, over the loopback interface")
    ] = ASK_NCCL
    panels: Annotated[
        PanelConfig,
        Meta(description="the names in a row share the width evenly; a panel named several times covers all its cells"),
    ] = EVERY_PANEL
    keys: Annotated[
        dict[str, str | tuple[str, ...]],
        Meta(description='your own keys, e.g. pause = "Z", help = ["?", "F1"]; `hwtop config show` lists all'),
    ] = {}
    """Name of an action -> its keys, in place of the default ones."""


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The settings file, unless --config names another."""
    return config_folder(environ) / "config.toml"


def load(path: str | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The settings. Without `path` those of the default file, or the defaults if it does not exist.

    Raises:
        UsageError: the file cannot be read or is invalid; the message names the setting and what is valid.
    """
    place = Path(path) if path is not None else default_path(environ)
    raw = read(place)
    if raw is not None:
        return parse(raw, str(place))
    if path is not None:
        raise UsageError(f"{path}: no such file: `hwtop config init --config {path}` writes one")
    return Config()


def read(place: Path) -> bytes | None:
    """The content of the file; None if it does not exist.

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
        raise UsageError(f"{place}: {reason}: choose a settings file that you can read") from error
    if len(raw) > _LARGEST_BYTES:
        raise UsageError(f"{place}: larger than 1 MiB, so not a settings file")
    return raw


def parse(raw: bytes, name: str) -> Config:
    """The settings in the text of a file called `name`.

    Raises:
        UsageError: as for `load`.
    """
    try:
        config = msgspec.convert(tomli.loads(raw.decode("utf-8-sig")), Config)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not UTF-8: save the file as UTF-8") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {_advice(str(error))}") from error
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number of thousands of digits
        raise UsageError(f"{name}: invalid TOML: {error}") from error
    for (section, field), problem_of in FORMS.items():
        problem = problem_of(getattr(getattr(config, section), field))
        if problem is not None:
            raise UsageError(f"{name}: {section}.{field}: {problem}")
    return config


def _no_time(text: str) -> str | None:
    found = seconds(text)
    if found is None:
        return f"{text[:40]!r} is not a valid time: use e.g. 500ms, 2s or 1m"
    least, most = INTERVAL_S
    return None if least <= found <= most else f"{text[:40]} is out of range: use {least:g} to {most:g} seconds"


def _no_address(text: str) -> str | None:
    is_fine = not text or re.fullmatch(r"https?://[^\s/]\S*", text)
    return None if is_fine else f"{text[:40]!r} is not a URL: use https://..."


FORMS: dict[tuple[str, ...], Callable[[Any], str | None]] = {
    ("screen", "interval"): _no_time,
    ("screen", "idle_interval"): _no_time,
    ("alerts", "webhook"): _no_address,
    ("panels", "hide"): no_panels,
    ("panels", "overview"): no_drawing,
}
"""Settings with a required form -> what is wrong with a value, in words."""


_KINDS = {
    "object": "a section",
    "array": "a list",
    "str": "a string in quotes",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
}
"""msgspec's name of a type -> ours."""


def _advice(text: str) -> str:
    """msgspec's message in plain words, with the closest valid name if there is one."""
    place = re.search(r" - at `\$\.?([^`\[]*)", text)
    where = f"{place[1]}: " if place is not None and place[1] else ""
    expected = re.search(r"Expected `([^`]*)`, got `([^`]*)`", text)
    if expected is not None:
        wanted, given = (
            " or ".join(_KINDS.get(kind, kind) for kind in each.split(" | ")) for each in expected.groups()
        )
        return f"{where}expected {wanted}, not {given}; `hwtop config init` writes a file with all settings"
    unknown = re.search(r"unknown field `([^`]*)`", text)
    if unknown is None:
        return f"{where}{text.partition(' - at ')[0]}; `hwtop config init` writes a file with all settings"
    hint = did_you_mean(unknown[1], _names(Config), "`hwtop config init` writes a file with all settings")
    return f"no setting {unknown[1]!r}: {hint}"


def _names(struct: type[Struct]) -> list[str]:
    """Names of all fields, including those of the sections."""
    names = list(struct.__struct_fields__)
    for value in (getattr(struct(), name) for name in struct.__struct_fields__):
        names += _names(type(value)) if isinstance(value, Struct) else []
    return names
