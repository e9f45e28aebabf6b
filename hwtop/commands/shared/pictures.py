"""Pictures that leave the screen: secrets are masked in all of them before they are drawn."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hwtop import atomic_file
from hwtop.errors import CannotError, HwtopError, internal_error

if TYPE_CHECKING:
    from hwtop.ui.options import PictureSaved
    from hwtop.ui.pictures.shot import Shot


def masked(shot: Shot) -> Shot:
    """What may be seen by others: without secrets, and without what the user hides."""
    from hwtop.bundle.mask import Mask

    frame = Mask(shot.hidden).frame(shot.view.frame, "picture")
    return replace(shot, view=replace(shot.view, frame=frame))


def write(shot: Shot, place: Path) -> list[Path]:
    """Write the files of a shot that is masked; `place`: their path without what each adds to it. Readable for the user alone.

    Raises:
        UsageError: the panel is not on the page.
        CannotError: one cannot be written.
    """
    from hwtop.ui.pictures import shot as shots

    written = []
    for ending, content in shots.files(shot):
        file = place.with_name(place.name + ending)
        try:
            atomic_file.write(file, content)
        except OSError as error:
            raise CannotError(f"cannot write {str(file)!r}: {error.strerror or error}") from None
        written.append(file)
    return written


def save(shot: Shot, saved: PictureSaved) -> None:
    """Write it into the home directory, in a thread: drawing takes a moment, and the home may be on a dead server."""

    def work() -> None:
        from hwtop.ui.pictures import shot as shots

        try:
            ready = masked(shot)
            saved(write(ready, Path("~").expanduser() / shots.name(ready.view)))
        except HwtopError as error:
            saved(CannotError(f"{error}; the picture is not saved"))
        except RuntimeError:  # a user without a home
            saved(CannotError("there is no home directory; the picture is not saved"))
        except Exception as error:
            saved(CannotError(internal_error(error, "the picture")))

    threading.Thread(target=work, name="hwtop-picture", daemon=True).start()
