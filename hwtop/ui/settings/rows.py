"""What the screen of settings lists: those of the structs, and for each symptom, threshold and key a line of its own. Pure."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from hwtop.config import Config, settings
from hwtop.config.settings import Path, Setting, Value, value_of
from hwtop.errors import UsageError
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.thresholds import range_words, settable, with_thresholds
from hwtop.ui import themes
from hwtop.ui.keys import keymap

_LONG = ("symptoms", "thresholds", "keys")
_STATES = ("on", "quiet", "off")
_THEME: Path = ("screen", "theme")
_STATE: Path = ("symptoms", "state")
"""Stands for the lists `off` and `quiet`."""
_LIMIT: Path = ("symptoms", "thresholds")
_AT_ONCE: tuple[Path, ...] = (
    ("screen", "theme"),
    ("screen", "interval"),
    ("screen", "ascii"),
    ("screen", "readonly"),
    ("alerts", "severity"),
    ("alerts", "bell"),
    ("alerts", "desktop"),
    ("panels",),
    ("keys",),
)
"""What a running screen takes over as it is chosen; the rest applies at the next start."""


class Section(Struct, frozen=True):
    """A page of settings."""

    name: str
    about: str
    rows: tuple[Setting, ...]


@lru_cache(maxsize=1)
def sections() -> tuple[Section, ...]:
    """All there are, the short ones first."""
    found: list[Section] = []
    for path, about, setting in settings.described():
        if setting is not None:
            row = _theme(setting) if path == _THEME else setting
            found[-1] = replace(found[-1], rows=(*found[-1].rows, row))
        elif path == ("symptoms",):
            found.append(
                Section("symptoms", "which are looked for; a quiet one is a note: no warning, no alert", _states())
            )
        elif path == _LIMIT:
            found.append(
                Section("thresholds", "from when on a symptom is raised, and how long it must hold", _limits())
            )
        elif path == ("keys",):
            found.append(Section("keys", "keys of your own, with blanks between them: Z F7 Ctrl-P", _keys()))
        else:
            found.append(Section(".".join(path), about, ()))
    lists = (("symptoms", "off"), ("symptoms", "quiet"))
    found = [replace(section, rows=tuple(row for row in section.rows if row.path not in lists)) for section in found]
    return tuple(sorted(found, key=lambda section: section.name in _LONG))


def label(setting: Setting) -> str:
    """What the row is called."""
    return " ".join(setting.path[2:] if setting.path[:2] in (_STATE, _LIMIT) else setting.path[1:])


def is_at_once(path: Path) -> bool:
    """Whether a running screen takes it over."""
    return any(path[: len(each)] == each for each in _AT_ONCE)


def current(config: Config, setting: Setting) -> Value:
    """What `config` says of it."""
    if setting.path[:2] == _STATE:
        name = setting.path[2]
        return "off" if name in config.symptoms.off else "quiet" if name in config.symptoms.quiet else "on"
    if setting.path[0] == "keys":
        written = config.keys.get(setting.path[1])
        return setting.default if written is None else " ".join(keymap.words(written))
    found: Value | None = value_of(config, setting.path)
    return setting.default if found is None else found


def chosen(config: Config, setting: Setting, value: Value) -> Config:
    """`config` with another value. What is as usual takes no entry of a table.

    Raises:
        UsageError: it cannot be; the message says why.
    """
    is_usual = value == setting.default
    if setting.path[:2] == _STATE:
        return _in_state(config, setting.path[2], str(value))
    if setting.path[:2] == _LIMIT:
        _, _, symptom, name = setting.path
        with_thresholds(RULES, {symptom: {name: float(value)}})  # type: ignore[arg-type]  # a number, as its kind says
        return settings.with_value(config, setting.path, None if is_usual else value)
    if setting.path[0] == "keys":
        changed = settings.with_value(config, setting.path, None if is_usual else _as_written(value))
        keymap.keymap(changed.keys)
        return changed
    return settings.with_value(config, setting.path, value)


def shown(value: Value) -> str:
    """A value as it is read and typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def check(config: Config) -> None:
    """Find out early whether the screen can do what the file says.

    Raises:
        UsageError: no such theme, action or key, or one key for two actions.
    """
    try:
        themes.check(config.screen.theme)
    except UsageError as error:
        raise UsageError(f"settings: screen.theme: {error}") from None
    keymap.keymap(config.keys)


def _as_written(value: Value) -> Value:
    words = tuple(keymap.words(str(value)))
    return words[0] if len(words) == 1 else words


def _in_state(config: Config, symptom: str, state: str) -> Config:
    for name in ("off", "quiet"):
        before: tuple[str, ...] = value_of(config, ("symptoms", name))
        after = tuple(each for each in before if each != symptom) + ((symptom,) if state == name else ())
        config = settings.with_value(config, ("symptoms", name), after) if set(after) != set(before) else config
    return config


def _theme(setting: Setting) -> Setting:
    return replace(setting, kind="choice", choices=(themes.AUTO, *themes.NAMES), about="shown as you choose it")


def _states() -> tuple[Setting, ...]:
    return tuple(
        Setting((*_STATE, rule.symptom), "choice", "on", f"raised at {rule.says}", _STATES)
        for rule in sorted(RULES, key=lambda rule: rule.symptom)
    )


def _limits() -> tuple[Setting, ...]:
    return tuple(
        Setting((*_LIMIT, rule.symptom, name), "number", value, f"{range_words(rule, name)}; {rule.says}", type=float)
        for rule in sorted(RULES, key=lambda rule: rule.symptom)
        for name, value in settable(rule).items()
    )


def _keys() -> tuple[Setting, ...]:
    return tuple(
        Setting(("keys", action), "text", " ".join(keymap.written(action, {})), about)
        for action, about in keymap.settable().items()
    )
