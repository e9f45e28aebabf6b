"""Settings: all that can be set, derived from the structs of `config`; to text, and back from what the user types."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct, inspect

from hwtop.config import FORMS, Config
from hwtop.errors import UsageError
from hwtop.suggestion import did_you_mean

Kind = Literal["switch", "choice", "text", "number", "names", "table"]
"""Kind of a value: true or false, one of some words, any text, a number, a list of names, a table of names and values."""
Value = bool | int | float | str | tuple[str, ...]
Path = tuple[str, ...]
"""Names of the section and of the setting: ("screen", "theme")."""

LONGEST = 4096
"""Characters of a value."""


class Setting(Struct, frozen=True):
    """One line of the file."""

    path: Path
    kind: Kind
    default: Value
    about: str = ""
    choices: tuple[str, ...] = ()
    type: Any = str
    """What the value is converted to."""


def described(struct: type[Struct] = Config, before: Path = ()) -> Iterator[tuple[Path, str, Setting | None]]:
    """All sections (path, description, None), each followed by its settings; tables are sections of their own, at the end."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    hints = get_type_hints(struct)
    tables = []
    for field in info.fields:
        about, kind = _plain(field.type)
        path, default = (*before, field.name), getattr(struct(), field.name)
        if isinstance(kind, inspect.StructType):
            yield path, about, None
            yield from described(kind.cls, path)
        elif isinstance(kind, inspect.DictType):
            tables.append((path, about, None))
        else:
            yield path, about, _setting(path, about, kind, default, get_args(hints[field.name]))
    yield from tables


def all_settings() -> tuple[Setting, ...]:
    """The settings that the structs declare."""
    return tuple(setting for _, _, setting in described() if setting is not None)


def value_of(config: Config, path: Path) -> Any:
    """The value of `config` at `path`; None if a table has no such entry."""
    found: Any = config
    for name in path:
        found = found.get(name) if isinstance(found, dict) else getattr(found, name)
        if found is None:
            return None
    return found


def with_value(config: Config, path: Path, value: Any) -> Config:
    """`config` with `value` at `path`; None removes an entry from a table.

    Raises:
        UsageError: it is not valid there.
    """
    plain = inner = msgspec.to_builtins(config)
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner.pop(path[-1], None)
    if value is not None:
        inner[path[-1]] = value
    thresholds = plain["symptoms"]["thresholds"]
    plain["symptoms"]["thresholds"] = {name: entries for name, entries in thresholds.items() if entries}
    try:
        return msgspec.convert(plain, Config)
    except msgspec.ValidationError as error:
        raise UsageError(f"{'.'.join(path)}: {error}") from error


def changes(before: Config, after: Config) -> dict[Path, Any]:
    """The differences by path; None if `after` no longer has the entry."""
    old, new = (dict(_leaves(msgspec.to_builtins(config), ())) for config in (before, after))
    return {path: new.get(path) for path in {**old, **new} if old.get(path) != new.get(path)}


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, tuple(value) if isinstance(value, (list, tuple)) else value


def toml(value: object) -> str:
    """`value` as TOML."""
    return msgspec.json.encode(value).decode()


def read(setting: Setting, text: str) -> Value:
    """What the user has typed, as a value of `setting`.

    Raises:
        UsageError: it is not valid; the message says why.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise UsageError(f"{len(text)} characters are too many: at most {LONGEST}")
    if setting.kind == "number":
        return _number(setting, text)
    if setting.kind in ("choice", "switch") and text not in setting.choices:
        hint = did_you_mean(text, setting.choices, f"use one of {', '.join(setting.choices)}")
        raise UsageError(f"{text!r}: {hint}")
    value: Value = text
    if setting.kind == "names":
        listed = (
            text.strip().removeprefix("[").removesuffix("]")
        )  # as the file has them, or without brackets and quotes
        value = tuple(name for part in listed.split(",") if (name := part.strip().strip("\"'")))
    elif setting.kind == "switch":
        value = text == "true"
    form = FORMS.get(setting.path)
    problem = form(value) if form is not None else None
    if problem is not None:
        raise UsageError(problem)
    return value


def template() -> str:
    """A new settings file: every setting as a comment."""
    lines = [
        "# Settings of hwtop. Lines that begin with # show the defaults. Command-line flags override this file.",
        "# `hwtop config check` checks this file, `hwtop config show` prints the settings in effect, F2 in hwtop changes them.",
    ]
    sections: list[list[tuple[str, str]]] = []
    for path, about, setting in described():
        if setting is None:
            sections.append([(f"[{'.'.join(path)}]", about)])
        else:
            sections[-1].append((commented(setting), about))
    for section in sections:
        width = max(len(text) for text, _ in section)
        lines += ["", *(f"{text:<{width}}  # {about}".rstrip(" #") for text, about in section)]
    return "\n".join(lines) + "\n"


def commented(setting: Setting) -> str:
    """Its line in the template."""
    return f"# {setting.path[-1]} = {toml(setting.default)}"


def _plain(kind: inspect.Type) -> tuple[str, inspect.Type]:
    """The description of a field, and its type without it."""
    about = ""
    while isinstance(kind, inspect.Metadata):
        about = about or str((kind.extra_json_schema or {}).get("description", ""))
        kind = kind.type
    return about, kind


def _setting(path: Path, about: str, kind: inspect.Type, default: Value, words: tuple[Any, ...]) -> Setting:
    if isinstance(kind, inspect.BoolType):
        return Setting(path, "switch", default, about, ("false", "true"), bool)
    if isinstance(kind, inspect.LiteralType):
        return Setting(path, "choice", default, about, tuple(map(str, words)))
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return Setting(path, "number", default, about, type=int if isinstance(kind, inspect.IntType) else float)
    if isinstance(kind, inspect.VarTupleType):
        return Setting(path, "names", default, about, type=tuple[str, ...])
    return Setting(path, "text", default, about)


def _number(setting: Setting, text: str) -> Value:
    try:
        number: Value = msgspec.convert(text, setting.type, strict=False)
    except msgspec.ValidationError:
        whole = "a whole number" if setting.type is int else "a number"
        raise UsageError(f"{text[:40]!r} is not {whole}") from None
    if isinstance(number, float) and not math.isfinite(number):
        raise UsageError(f"{text[:40]!r} is not a number")
    return number
