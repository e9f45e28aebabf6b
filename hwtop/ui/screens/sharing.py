"""What leaves the screen to be shared: pictures, recordings, bundles. Each says where it is, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace
from textual.message import Message
from textual.screen import Screen

from hwtop.errors import HwtopError
from hwtop.job.secrets import Hidden
from hwtop.ui.form import Row
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import layout
from hwtop.ui.pictures import shot
from hwtop.ui.pictures.shot import Format, Shot
from hwtop.ui.screens.form import FormScreen
from hwtop.ui.view import View
from hwtop.ui.widgets.text import visible

Look = Callable[..., None]
"""Changes fields of the View, `note` among them."""
_FORMATS: dict[str, tuple[Format, ...]] = {
    "PNG and SVG": ("png", "svg"),
    "PNG": ("png",),
    "SVG": ("svg",),
    "text": ("txt",),
    "HTML": ("html",),
}
_MASKS: tuple[tuple[str, Hidden], ...] = (
    ("host names", "hosts"),
    ("user names", "users"),
    ("paths", "paths"),
)


class Shared(Message):
    """Something was saved, or could not be."""

    def __init__(self, note: str, copied: str = "", is_recorded: bool | None = None) -> None:
        """`copied`: what goes to the clipboard; `is_recorded`: whether a recording goes on now, None = as before."""
        self.note, self.copied, self.is_recorded = note, copied, is_recorded
        super().__init__()


class Sharing:
    """Asks the options to save, from the thread of the screen; they answer from any."""

    def __init__(self, screen: Screen[None], options: ScreenOptions, look: Look) -> None:
        self._screen, self._options, self._look = screen, options, look

    def adopt(self, options: ScreenOptions) -> None:
        """Save and draw as these say from now on."""
        self._options = options

    def picture(self, taken: Shot) -> None:
        """Save it."""
        save = self._options.save_picture
        if save is None:
            self._look(
                note="a picture cannot be saved from here: hwtop screenshot PID -o FILE.png does it on the machine itself"
            )
            return
        self._look(note="saving a picture …")
        save(taken, self._picture_saved)

    def choose(self, taken: Shot) -> None:
        """Ask in which format, of what, and what to mask; then save it."""
        if self._options.save_picture is None:
            self.picture(taken)
            return
        panel = layout.focused(taken.view, layout.arrange(taken.view, *taken.size))
        areas = ["this page", *([f"panel {panel}"] if panel else []), "all pages"]
        rows = [
            Row("Format", tuple(_FORMATS)),
            Row("Area", tuple(areas)),
            *(Row(label, ("shown", "masked")) for label, _ in _MASKS),
        ]

        def answered(answers: tuple[int, ...] | None) -> None:
            if answers is None:
                return
            form, area, *masks = answers
            self.picture(
                replace(
                    taken,
                    formats=tuple(_FORMATS.values())[form],
                    panel=panel if areas[area].startswith("panel ") else "",
                    has_all_pages=areas[area] == "all pages",
                    hidden=tuple(hidden for (_, hidden), is_hidden in zip(_MASKS, masks, strict=True) if is_hidden),
                )
            )

        title = "Picture, secrets masked"
        self._screen.app.push_screen(FormScreen(title, rows, is_ascii=self._options.is_ascii), answered)

    def record(self, view: View) -> None:
        """Record what is watched, or stop."""
        record = self._options.record
        if record is not None:
            record(shot.name(view), self._recording_changed)
        else:
            self._look(note="nothing can be recorded from here: hwtop record -o FILE PID does it on the machine itself")

    def bundle(self, taken: Shot) -> None:
        """Make a bundle of the job."""
        bundle = self._options.bundle
        if bundle is not None and taken.view.job is not None:
            bundle(taken, self._bundle_told)
        else:
            self._look(note="there is no job here: hwtop bundle PID -o FILE makes a bundle of one")

    def _bundle_told(self, words: str, place: Path | None) -> None:
        self._screen.post_message(Shared(f"bundle: {visible(words)}", "" if place is None else str(place)))

    def _picture_saved(self, result: Sequence[Path] | HwtopError) -> None:
        if isinstance(result, HwtopError):
            self._screen.post_message(Shared(visible(str(result))))
            return
        first, *more = result
        rest = f" and {more[0].suffix}" if len(more) == 1 else f" and {len(more)} more files" if more else ""
        note = f"saved, and its path sent to the clipboard: {visible(str(first))}{rest}"
        self._screen.post_message(Shared(note, str(first)))

    def _recording_changed(self, note: str, is_recorded: bool) -> None:
        self._screen.post_message(Shared(visible(note), is_recorded=is_recorded))
