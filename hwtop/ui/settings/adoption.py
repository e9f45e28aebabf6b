"""Adoption: what a running screen makes of settings that are chosen in it, and they of what its keys have changed. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.config import Config
from hwtop.config.settings import Path, Value, changes, with_value
from hwtop.fields import levels
from hwtop.seconds import seconds
from hwtop.ui.keys.keymap import keymap
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import actions
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.view import View

_HIDE: Path = ("panels", "hide")
_INTERVAL: Path = ("screen", "interval")


def with_keys(settings: SettingsView, view: View) -> SettingsView:
    """The settings with what keys have changed since, so that it can be saved, too."""
    draft = settings.draft
    by_keys: dict[Path, Value] = {}
    if view.hidden != frozenset(draft.panels.hide):
        by_keys[_HIDE] = tuple(sorted(view.hidden))
    if view.interval_s is not None and view.interval_s != seconds(draft.screen.interval):
        by_keys[_INTERVAL] = f"{view.interval_s:g}s"
    for path, value in by_keys.items():
        draft = with_value(draft, path, value)
    return replace(settings, draft=draft, touched=settings.touched | by_keys.keys())


def configured(config: Config) -> ScreenOptions:
    """As the settings say, of what pictures show too.

    Raises:
        UsageError: they name an action or a key that does not exist.
    """
    return ScreenOptions(
        panels=config.panels,
        alerts=config.alerts,
        keymap=keymap(config.keys),
        levels=levels.chosen(config.symptoms.thresholds),
    )


def options_for(options: ScreenOptions, before: Config, after: Config) -> ScreenOptions:
    """`options` with what differs between the settings before and those that are chosen now."""
    changed = changes(before, after)
    sections = {path[0] for path in changed}
    if ("screen", "theme") in changed:
        options = replace(options, theme=after.screen.theme)
    if ("screen", "ascii") in changed:
        options = replace(options, is_ascii=after.screen.ascii)
    if ("screen", "readonly") in changed:
        # A screen that was started with --readonly has been given nothing to signal with: that only a new one gets.
        options = replace(options, is_readonly=after.screen.readonly or options.send is None)
    if "alerts" in sections:
        options = replace(options, alerts=after.alerts)
    if "panels" in sections:
        options = replace(options, panels=after.panels)
    return replace(options, keymap=keymap(after.keys)) if "keys" in sections else options


def later(options: ScreenOptions) -> frozenset[Path]:
    """Settings that a screen with these options cannot take over while it runs."""
    readonly: frozenset[Path] = frozenset({("screen", "readonly")} if options.send is None else ())
    return readonly | {("screen", "theme")} if options.no_color else readonly


def interval_for(before: Config, after: Config) -> float | None:
    """Seconds between two looks, where they are chosen anew."""
    return None if before.screen.interval == after.screen.interval else seconds(after.screen.interval)


def view_for(view: View, before: ScreenOptions, after: ScreenOptions, interval_s: float | None) -> View:
    """How the person looks at the frame with other options; what they have done to the panels themselves stays otherwise."""
    view = replace(view, is_readonly=after.is_readonly, keymap=actions.complete(after.keymap))
    if before.panels != after.panels:
        view = replace(view, hidden=frozenset(after.panels.hide), drawing=after.panels.overview)
    return view if interval_s is None else replace(view, interval_s=interval_s)
