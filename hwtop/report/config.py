"""Settings as text: those in effect, and whether the file is valid."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hwtop.config import Config, default_path, load
from hwtop.config.settings import toml
from hwtop.errors import UsageError
from hwtop.suggestion import did_you_mean
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import settable, with_thresholds


def config_text(path: str | None) -> list[str]:
    """All settings as TOML; a comment marks those set in the file."""
    config = checked(load(path))
    origin = path or str(default_path())
    lines = [f"# {origin}" if Path(origin).exists() else f"# {origin} does not exist: these are the defaults"]
    defaults = msgspec.to_builtins(Config())
    for section, fields in msgspec.to_builtins(config).items():
        if section == "keys":  # only the screen knows those in effect
            continue
        lines += ["", f"[{section}]"]
        for name, value in fields.items():
            if name == "thresholds":
                continue
            is_own = value != defaults[section][name]
            lines.append(f"{name} = {toml(value)}" + ("  # set" if is_own else ""))
    return lines + _thresholds(config)


def _thresholds(config: Config) -> list[str]:
    """All thresholds, one line per symptom."""
    lines = ["", "[symptoms.thresholds]  # `hwtop explain SYMPTOM` explains each"]
    for rule in with_thresholds(RULES, config.symptoms.thresholds):
        own = config.symptoms.thresholds.get(rule.symptom, {})
        numbers = ", ".join(f"{name} = {value:.10g}" for name, value in settable(rule).items())
        lines.append(f"{rule.symptom} = {{ {numbers} }}" + (f"  # set: {', '.join(own)}" if own else ""))
    return lines


def check_text(path: str | None) -> str:
    """One line that says that the file is valid.

    Raises:
        UsageError: it is not; the message says where.
    """
    origin = path or str(default_path())
    checked(load(path))
    return f"{origin}: valid" if Path(origin).exists() else f"{origin} does not exist: the defaults apply"


def checked(config: Config) -> Config:
    """`config`, whose symptoms exist.

    Raises:
        UsageError: one does not.
    """
    known = [rule.symptom for rule in RULES]
    for name in (*config.symptoms.off, *config.symptoms.quiet):
        if name not in known:
            raise UsageError(
                f"settings: no symptom {name!r}: {did_you_mean(name, known, '`hwtop symptoms` lists them')}"
            )
    with_thresholds(RULES, config.symptoms.thresholds)
    return config
