"""What can be done with a key: the keys, the words for it, and what runs it."""

from __future__ import annotations

from msgspec import Struct


class Action(Struct, frozen=True):
    """One line of help, one name in the palette, one entry of the settings' `[keys]`."""

    id: str
    """In the settings file, and what a page binds a reducer to (`Page.keys`)."""
    key: str
    """Its keys unless the user sets others, as Textual calls them, separated by commas."""
    description: str
    """One or two words."""
    tooltip: str
    """A line of help."""
    words: str = ""
    """Other words that people look for it by."""
    screen: str = ""
    """What the screen runs; "" = the reducer that the page in view has for this action."""
    home: str = ""
    """The page that lists it in the help, where several have it; "" = the first of them."""
    elsewhere: str = ""
    """The page that it leads to from pages that do not have it; "" = there it does nothing."""
    is_about_rank: bool = False
    """From there it leads to the rank that is shown in full."""
    is_global: bool = False
    """It does the same on every page, although only some list it."""
    works_without_job: bool = False
    """Also while a job is still to be picked."""
    changes_job: bool = False
    """--readonly takes it away."""
    is_priority: bool = False
    """Before what a widget in focus does with the key."""
    is_listed: bool = True
    """The palette has it as a command."""

    @property
    def action(self) -> str:
        """What Textual runs."""
        return self.screen or f"press('{self.id}')"


Offer = tuple[tuple[str, ...], str]
"""Ids of actions that belong together ("down", "up"), and what they do on this page: as the footer names them."""
