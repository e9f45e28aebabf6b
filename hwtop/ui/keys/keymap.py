"""Keys of the person's own: the `[keys]` section of the settings file as a keymap, and what is wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from hwtop.config.settings import toml
from hwtop.errors import UsageError
from hwtop.ui.keys import bindings as keys
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.names import Keymap
from hwtop.ui.keys.words import key_of

Wanted = Mapping[str, str | Sequence[str]]
"""Id of a binding -> its keys as the person writes them: a list, or one text with commas or blanks."""


def keymap(wanted: Wanted) -> Keymap:
    """The keymap for what the person has written; actions that are not named keep their keys.

    Raises:
        UsageError: an unknown action or key, no key, or one key for two actions; the message says which and what would do.
    """
    made = {action: _keys(action, told) for action, told in wanted.items()}
    owners: dict[str, str] = {}
    for binding in key_names.every():
        for key in key_names.held(binding, made):
            owner = owners.setdefault(key, binding.id or "")
            if owner != binding.id:
                raise UsageError(_clash(key, owner, binding.id or "", made))
    return made


def settable() -> dict[str, str]:
    """Id and meaning of all actions whose keys can be chosen, in the order in which they are told."""
    return {
        item.id: item.tooltip or item.description for item in key_names.every() if item.id and item != keys.INTERRUPT
    }


def written(action: str, made: Keymap) -> tuple[str, ...]:
    """The keys of the action with this id, as a settings file has them."""
    found = next(item for item in key_names.every() if item.id == action)
    return tuple(map(key_names.name, key_names.held(found, made)))


def toml_lines(wanted: Wanted) -> list[str]:
    """All keys that hold, as the section of a settings file; a remark says which the person has set."""
    made = keymap(wanted)
    lines = [
        f"{action} = {toml(written(action, made))}" + ("  # set" if action in made else "") for action in settable()
    ]
    return ["", "[keys]  # `hwtop` shows with ? what each does", *lines]


def words(told: str | Sequence[str]) -> Iterator[str]:
    """The single keys in what a person has written."""
    if not isinstance(told, str):
        yield from told
        return
    for word in told.split():
        yield from (word,) if word == "," else filter(None, word.split(","))


def _keys(action: str, told: str | Sequence[str]) -> str:
    known = settable()
    if action == keys.INTERRUPT.id:
        raise UsageError(f"settings: keys.{action}: Ctrl-C always quits; the other keys are those of 'quit'")
    if action not in known:
        near = get_close_matches(action, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`hwtop config show` lists them"
        raise UsageError(f"settings: keys: no action {action[:40]!r}: {hint}")
    try:
        found = dict.fromkeys(map(key_of, words(told)))
    except UsageError as error:
        raise UsageError(f"settings: keys.{action}: {error}") from None
    if not found:
        raise UsageError(f"settings: keys.{action}: it needs a key; without the line it has {_usual(action)}")
    return ",".join(found)


def _usual(action: str) -> str:
    return " ".join(written(action, {}))


def _clash(key: str, one: str, other: str, made: Keymap) -> str:
    set_, usual = (one, other) if one in made else (other, one)
    advice = "leave it to one of them" if usual in made else "give that one another key"
    return f"settings: keys.{set_}: {key_names.name(key)} is a key of {usual!r} already: {advice}"
