"""Makes a bundle: watches the job into a masked recording, and collects the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from hwtop.bundle.archive import Archive
from hwtop.bundle.evidence import Evidence
from hwtop.bundle.mask import Mask
from hwtop.bundle.opened import RECORDING
from hwtop.bundle.parts import add_evidence
from hwtop.config import SymptomConfig
from hwtop.errors import CannotError
from hwtop.feed.feed import Store, both, frames
from hwtop.feed.record import Recorder
from hwtop.feed.watch import watch
from hwtop.model.frame import Frame
from hwtop.store.reader import Recording
from hwtop.store.writer import Writer

Progress = Callable[[str], None]
Pictures = Callable[[Frame], dict[str, str | bytes]]
"""Name -> picture of this frame, of which all texts are masked."""


class Order(Struct, frozen=True, kw_only=True):
    """What to put into a bundle."""

    pid: int
    seconds: float
    log_globs: tuple[str, ...] = ()
    gpus: tuple[int, ...] | None = None
    symptoms: SymptomConfig
    most_bytes: int


def bundle(order: Order, mask: Mask, folder: Path, progress: Progress, pictures: Pictures) -> bytes:
    """The zip file of this job. `folder`: private and empty, for the recording; the caller removes it.

    Raises:
        CannotError: the job cannot be read.
    """
    place = folder / RECORDING
    evidence, recorder = Evidence(), Recorder(Writer(place, mask=partial(mask.snapshot, member=RECORDING)))

    try:
        watched = _watched(order, both(evidence.put, recorder.put), progress)
    finally:
        recorder.close()  # before the folder is removed
    progress("collecting")
    archive, seen = Archive(order.pid, mask, order.most_bytes), evidence.seen()
    if seen.snapshot is not None:
        mask.learn(seen.snapshot)
    frame = watched
    if recorder.error is not None:
        archive.leave_out(RECORDING, str(recorder.error))
    else:
        frame = _replayed(place, order.symptoms)  # a secret that a report cuts in half would not be recognised any more
    add_evidence(archive, order.pid, frame, watched, seen)
    if recorder.error is None:
        archive.add(RECORDING, place.read_bytes())
        progress("drawing")
        archive.collect("overview", lambda: pictures(frame))
    return archive.content(frame.derived.time_s)


def _watched(order: Order, store: Store, progress: Progress) -> Frame:
    newest: deque[Frame] = deque(maxlen=1)
    for frame in watch(
        order.pid,
        seconds=order.seconds,
        log_globs=order.log_globs,
        gpus=order.gpus,
        symptoms=order.symptoms,
        store=store,
    ):
        newest.append(frame)
        progress(f"watching: {frame.watched_s:.0f} of {order.seconds:.0f} s")
    if newest[0].derived.job is None:
        raise CannotError(f"cannot read process {order.pid}: it has ended, or /proc does not answer")
    return newest[0]


def _replayed(place: Path, symptoms: SymptomConfig) -> Frame:
    """The last frame of the masked recording."""
    recording = Recording(place)
    try:
        return deque(frames(recording.snapshots(), symptoms=symptoms), maxlen=1)[0]
    finally:
        recording.close()
