"""Changes to the settings file that keep the user's comments and layout. The only module that writes TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, InlineTable, Table

from hwtop import atomic_file
from hwtop.config import Config, parse, read, settings
from hwtop.config.settings import Path as SettingPath
from hwtop.config.settings import value_of
from hwtop.errors import CannotError, UsageError

Changes = Mapping[SettingPath, Any]
"""Names of the section and of the setting -> its new value; None removes it from the file."""

_BOM = "\ufeff"
_UNSAFE = "hwtop cannot change this file safely: nothing was saved; edit it by hand"


def save(place: Path, changes: Changes) -> Config:
    """Write `changes` into the file at `place`, creating it if needed. Atomic: at any time there is either the old file or
    the new one.

    Returns:
        The settings in the new file.

    Raises:
        UsageError: the file or a value is invalid; nothing was written.
        CannotError: it cannot be written; the file is unchanged.
    """
    raw = read(place)
    text = settings.template() if raw is None else _text(raw, place)
    changed = with_changes(text, changes, str(place))
    config = parse(changed.encode(), str(place))
    if raw is None or changed.encode() != raw:
        try:
            atomic_file.write_own(place.resolve(), changed.encode())  # of a link the target changes
        except OSError as error:
            message = f"cannot write {place}: {error.strerror or error}; nothing was saved"
            raise CannotError(f"{message}; choose another file with --config FILE") from error
    return config


def with_changes(text: str, changes: Changes, name: str) -> str:
    """The text of a settings file with `changes`; comments, order, line endings and everything else are kept.

    Raises:
        UsageError: it is not valid, or cannot be changed without side effects.
    """
    parse(text.encode(), name)  # hwtop must not touch an invalid file
    mark = _BOM if text.startswith(_BOM) else ""
    body = text.removeprefix(_BOM)
    is_windows = "\r\n" in body and body.count("\r\n") == body.count("\n")
    body = body.replace("\r\n", "\n") if is_windows else body
    body += "" if body.endswith("\n") or not body else "\n"
    for path, value in changes.items():
        body = _changed(body, path, value, name)
    changed = mark + (body.replace("\n", "\r\n") if is_windows else body)
    if not _says(changed, text, changes, name):
        raise UsageError(f"{name}: {_UNSAFE}")
    return changed


def _text(raw: bytes, place: Path) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not UTF-8: save the file as UTF-8; nothing was saved") from error


def _changed(body: str, path: SettingPath, value: Any, name: str) -> str:
    try:
        document: Any = tomlkit.parse(body if value is None else _awake(body, path))
        table, rest = document, list(path)
        while len(rest) > 1 and rest[0] in table:
            table = table[rest.pop(0)]
        if value is not None and table is document and len(rest) > 1:
            if document.body:
                document.add(tomlkit.nl())
            table.add(rest[0], tomlkit.table())
            table = table[rest.pop(0)]
        _put(table, rest, _plain(value))
        changed = f"{tomlkit.dumps(document).rstrip()}\n"
        tomlkit.parse(changed)
        return changed
    except (TOMLKitError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{name}: {_UNSAFE}") from error


def _plain(value: Any) -> Any:
    """As written in the file: 70, not 70.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def _put(table: Any, names: list[str], value: Any) -> None:
    key = names[0]
    if value is None:
        if len(names) == 1 and key in table:
            del table[key]
    elif len(names) > 1:
        table.add(tomlkit.key(names), value)
    elif not (isinstance(table.get(key), Array) and isinstance(value, list) and _follows(table[key], value)):
        width = len(tomlkit.item(table[key]).as_string()) if key in table else 0
        table[key] = value
        item: Any = table.item(key) if isinstance(table, (Table, TOMLDocument, InlineTable)) else None
        if item is not None and item.trivia.comment:  # keep its column
            item.trivia.comment_ws = " " * max(1, len(item.trivia.comment_ws) + width - len(item.as_string()))


def _follows(array: Array, wanted: list[Any]) -> bool:
    """Whether `array` could be made `wanted` item by item, which keeps the comments between them."""
    for gone in [each for each in array if each not in wanted]:
        array.remove(gone)
    for new in [each for each in wanted if each not in array]:
        array.append(new)
    return list(array) == wanted


def _awake(body: str, path: SettingPath) -> str:
    """`body` with the commented line of the template for this setting uncommented, so that the value goes there."""
    setting = next((each for each in settings.all_settings() if each.path == path), None)
    head = re.search(rf"^\[{re.escape('.'.join(path[:-1]))}\][^\n]*\n", body, re.MULTILINE)
    if head is None or setting is None or value_of(parse(body.encode(), ""), path) != setting.default:
        return body
    end = re.compile(r"^[ \t]*\[", re.MULTILINE).search(body, head.end())
    inside = body[head.end() : end.start() if end else len(body)]
    if re.search(rf"^[ \t]*[\"']?{re.escape(path[-1])}\b", inside, re.MULTILINE):
        return body
    line = settings.commented(setting)
    awake = re.sub(
        rf"^{re.escape(line)}(?=[ \t]*(#|$))", lambda _: line[2:] + "  ", inside, count=1, flags=re.MULTILINE
    )
    return body[: head.end()] + awake + body[head.end() + len(inside) :]


def _says(changed: str, before: str, changes: Changes, name: str) -> bool:
    """Whether nothing but `changes` has changed."""
    wanted = parse(before.encode(), name)
    for path, value in changes.items():
        wanted = settings.with_value(wanted, path, value)
    return not settings.changes(wanted, parse(changed.encode(), name))
