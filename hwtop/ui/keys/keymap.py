"""Keys of the person's own: the `[keys]` section of the settings file as a keymap, and what is wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hwtop.config.settings import toml
from hwtop.errors import UsageError
from hwtop.suggestion import did_you_mean
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.names import Keymap
from hwtop.ui.keys.shared import INTERRUPT
from hwtop.ui.keys.words import key_of
from hwtop.ui.pages import actions

Wanted = Mapping[str, str | Sequence[str]]
"""Id of an action -> its keys as the person writes them: a list, or one text with commas or blanks."""


def keymap(wanted: Wanted) -> Keymap:
    """The keymap for what the person has written; actions that are not named keep their keys.

    Raises:
        UsageError: an unknown action or key, no key, or one key for two actions; the message says which and what would do.
    """
    made = {action: _keys(action, reported) for action, reported in wanted.items()}
    owners: dict[str, str] = {}
    for action in actions.every():
        for key in key_names.held(action.id, actions.complete(made)):
            owner = owners.setdefault(key, action.id)
            if owner != action.id:
                raise UsageError(_clash(key, owner, action.id, made))
    return made


def settable() -> dict[str, str]:
    """Id and meaning of all actions whose keys can be chosen, in the order in which they are told."""
    return {action.id: action.tooltip for action in actions.every() if action != INTERRUPT}


def written(action: str, made: Keymap) -> tuple[str, ...]:
    """The keys of the action with this id, as a settings file has them."""
    return tuple(map(key_names.name, key_names.held(action, actions.complete(made))))


def toml_lines(wanted: Wanted) -> list[str]:
    """All keys that hold, as the section of a settings file; a remark says which the person has set."""
    made = keymap(wanted)
    lines = [
        f"{action} = {toml(written(action, made))}" + ("  # set" if action in made else "") for action in settable()
    ]
    return ["", "[keys]  # `hwtop` shows with ? what each does", *lines]


def words(reported: str | Sequence[str]) -> Iterator[str]:
    """The single keys in what a person has written."""
    if not isinstance(reported, str):
        yield from reported
        return
    for word in reported.split():
        yield from (word,) if word == "," else filter(None, word.split(","))


def _keys(action: str, reported: str | Sequence[str]) -> str:
    known = settable()
    if action == INTERRUPT.id:
        raise UsageError(f"settings: keys.{action}: Ctrl-C always quits; the other keys are those of 'quit'")
    if action not in known:
        hint = did_you_mean(action, known, "`hwtop config show` lists them")
        raise UsageError(f"settings: keys: no action {action[:40]!r}: {hint}")
    try:
        found = dict.fromkeys(map(key_of, words(reported)))
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
