"""How a person looks at the settings, and what they have changed: a view and a key in, a view out. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from hwtop.config import Config, settings
from hwtop.config.settings import Path, Setting, Value
from hwtop.errors import UsageError
from hwtop.ui.settings import rows as settings_rows
from hwtop.ui.settings.rows import Section


class SettingsView(Struct, frozen=True):
    """Immutable: a key makes a new one."""

    saved: Config
    """What the file says."""
    draft: Config
    """What is chosen."""
    flags: Mapping[Path, tuple[str, Value]] = field(default_factory=dict)
    """As `options.SettingsFile.flags`."""
    later: frozenset[Path] = frozenset()
    """What this screen cannot take over before it is started anew."""
    touched: frozenset[Path] = frozenset()
    """Changed here: from then on the flag is forgotten."""
    section: int = 0
    cursor: int = 0
    typed: str | None = None
    """The new value as far as it is typed; None = none is."""
    wanted: str | None = None
    """The word that is looked for, while it is typed."""
    note: str = ""
    is_refused: bool = False
    """The note tells what is wrong."""

    @property
    def page(self) -> Section:
        """The section that is shown."""
        return settings_rows.sections()[self.section]

    @property
    def here(self) -> Setting:
        """The setting under the cursor."""
        return self.page.rows[min(self.cursor, len(self.page.rows) - 1)]

    @property
    def changes(self) -> dict[Path, object]:
        """What is chosen and not saved."""
        return settings.changes(self.saved, self.draft)

    def value(self, setting: Setting) -> Value:
        """What holds."""
        if setting.path in self.flags and setting.path not in self.touched:
            return self.flags[setting.path][1]
        return settings_rows.current(self.draft, setting)

    def holds_at_once(self, path: Path) -> bool:
        """Whether a change shows in the running screen."""
        return settings_rows.is_at_once(path) and path not in self.later

    def origin(self, setting: Setting) -> str:
        """Where that comes from: a flag, the file, nowhere else ("default"), or from here ("not saved")."""
        if settings_rows.current(self.draft, setting) != settings_rows.current(self.saved, setting):
            return "not saved"
        if setting.path in self.flags and setting.path not in self.touched:
            return self.flags[setting.path][0]
        return "default" if settings_rows.current(self.saved, setting) == setting.default else "file"


def shown_again(view: SettingsView, *, is_readonly: bool) -> SettingsView:
    """As it was left, with a word where nothing else may be changed."""
    return replace(_plain(view), note="read-only: the job is left alone, settings can be saved" if is_readonly else "")


def moved(view: SettingsView, rows: int) -> SettingsView:
    """Another setting of this section."""
    return replace(_plain(view), cursor=max(0, min(len(view.page.rows) - 1, view.cursor + rows)))


def turned(view: SettingsView, step: int) -> SettingsView:
    """Another section."""
    return replace(_plain(view), section=(view.section + step) % len(settings_rows.sections()), cursor=0)


def stepped(view: SettingsView, step: int) -> SettingsView:
    """The next of the values that this setting can have, or the one before; a number goes up or down in
    its second digit."""
    setting = view.here
    value = view.value(setting)
    if setting.kind == "switch":
        return chosen(view, not value)
    if setting.kind == "choice":
        place = setting.choices.index(str(value)) if value in setting.choices else 0
        return chosen(view, setting.choices[(place + step) % len(setting.choices)])
    if setting.kind == "number" and isinstance(value, (int, float)):
        return chosen(view, type(value)(round(value + step * _digit(value), 9)))
    return replace(_plain(view), note="Enter, then type")


def chosen(view: SettingsView, value: Value) -> SettingsView:
    """The setting under the cursor has this value from now on, unless it cannot have it."""
    try:
        draft = settings_rows.chosen(view.draft, view.here, value)
    except UsageError as error:
        return replace(view, note=_reason(error), is_refused=True)
    return replace(_plain(view), draft=draft, touched=view.touched | {view.here.path}, typed=None)


def reset(view: SettingsView) -> SettingsView:
    """As it is without any file."""
    return chosen(view, view.here.default)


def opened(view: SettingsView) -> SettingsView:
    """What Enter does: the next value, or to type one."""
    if view.here.kind in ("switch", "choice"):
        return stepped(view, 1)
    return replace(_plain(view), typed=settings_rows.shown(view.value(view.here)))


def entered(view: SettingsView) -> SettingsView:
    """Take what was typed, or say why it cannot be."""
    try:
        return chosen(view, settings.read(view.here, view.typed or ""))
    except UsageError as error:
        return replace(view, note=_reason(error), is_refused=True)


def sought(view: SettingsView, word: str, *, is_next: bool = False) -> SettingsView:
    """At the next setting, of any section, that has `word` in its name or meaning; the one under the cursor counts, too,
    unless another is wanted."""
    view = replace(_plain(view), wanted=word)
    places = [
        (number, row) for number, section in enumerate(settings_rows.sections()) for row in range(len(section.rows))
    ]
    start = places.index((view.section, view.cursor)) + (1 if is_next else 0)
    for is_meant in _MEANT:
        for number, row in [*places[start:], *places[:start]]:
            if is_meant(settings_rows.sections()[number].rows[row], word.casefold()):
                return replace(view, section=number, cursor=row)
    return replace(view, note=f"no setting has {word!r} in its name or meaning", is_refused=True)


_MEANT: tuple[Callable[[Setting, str], bool], ...] = (
    lambda setting, word: word == settings_rows.label(setting).casefold(),
    lambda setting, word: word in settings_rows.label(setting).casefold(),
    lambda setting, word: word in setting.about.casefold(),
)
"""What a word that is looked for means before what."""


def saved(view: SettingsView, config: Config, place: str) -> SettingsView:
    """The file says `config` now."""
    waits = [path for path in view.changes if not view.holds_at_once(path)]
    later = "; hwtop must be restarted for " + ", ".join(".".join(path[:2]) for path in waits[:2]) if waits else ""
    return replace(_plain(view), saved=config, note=f"saved to {place}{later}")


def _digit(number: float) -> float:
    """What one in the second digit is: 1 for 80, 0.01 for 0.15; whole numbers move by 1 at least."""
    digit = 10.0 ** (math.floor(math.log10(abs(number))) - 1) if number else 1.0
    return max(digit, 1.0) if isinstance(number, int) else digit


def _plain(view: SettingsView) -> SettingsView:
    return replace(view, note="", is_refused=False)


def _reason(error: UsageError) -> str:
    return str(error).removeprefix("settings: ")
