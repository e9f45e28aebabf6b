"""Tones: what a theme is made of. `app.tcss` gives each role of a panel one of them."""

from __future__ import annotations

from msgspec import Struct
from textual.theme import Theme


class Tones(Struct, frozen=True, kw_only=True):
    """Colours as "#rrggbb", or all of them as names of the terminal's own ("ansi_green")."""

    name: str
    is_dark: bool = True
    is_ansi: bool = False

    background: str
    text: str
    label: str
    """Titles of columns, names of values."""
    dim: str
    """What is read last."""
    border: str
    """Only groups what stands in it, so it may be faint."""
    track: str
    """The whole that a bar is a share of, the lines of a chart."""
    title: str
    """Also notes, and what is neither good nor bad."""
    accent: str
    """Keys, commands, and the row that is chosen."""
    wait: str
    good: str
    faint_good: str
    """Large areas that are well."""
    warn: str
    bad: str
    panel: str
    """Behind tabs, and behind a verdict that is none."""
    user: str
    """Behind functions of the person's own code; what is written on it is `on`."""
    library: str
    """Behind functions of others; what is written on it is `text`."""
    on: str
    """What is written on `title`, `accent`, `good`, `warn` and `user`."""
    bad_ground: str
    """Behind a critical verdict."""
    on_bad: str
    ranks: tuple[str, ...]
    """Eight. Beside each other they differ in hue; none is a warning's yellow or an error's red."""

    band_style: str = "bold"
    """Of text on a ground of its own: "bold", "none", or with "reverse" where there are no colours."""
    user_style: str = "bold"
    """Of the person's functions: "bold", or with "underline" where there are no colours."""
    library_style: str = "none"
    """Of functions of others: "none" or "underline"."""
    quiet_style: str = "none"
    """Of what is read last: "dim" where there are no colours."""

    @property
    def theme(self) -> Theme:
        """The toolkit's form of it."""
        return Theme(
            name=self.name,
            primary=self.title,
            secondary=self.wait,
            accent=self.accent,
            foreground=self.text,
            background=self.background,
            surface=self.background,
            panel=self.panel,
            success=self.good,
            warning=self.warn,
            error=self.bad,
            dark=self.is_dark,
            ansi=self.is_ansi,
            variables=self._variables(),
        )

    def _variables(self) -> dict[str, str]:
        own = {
            "ansi-background": self.background,
            "ansi-foreground": self.text,
            "panel": self.panel,
            "hwtop-label": self.label,
            "hwtop-dim": self.dim,
            "hwtop-border": self.border,
            "hwtop-track": self.track,
            "hwtop-faint-good": self.faint_good,
            "hwtop-user": self.user,
            "hwtop-library": self.library,
            "hwtop-on": self.on,
            "hwtop-bad-ground": self.bad_ground,
            "hwtop-on-bad": self.on_bad,
            "hwtop-veil": self.background if self.is_ansi else f"{self.background} 60%",
            "hwtop-band-style": self.band_style,
            "hwtop-user-style": self.user_style,
            "hwtop-library-style": self.library_style,
            "hwtop-quiet-style": self.quiet_style,
        }
        return own | {f"hwtop-rank-{number}": tone for number, tone in enumerate(self.ranks)}
