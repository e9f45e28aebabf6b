"""Makes a bundle: a masked recording of the job, watched for it or already at hand, and all that is collected."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from hwtop.bundle.archive import Archive
from hwtop.bundle.evidence import Evidence, Seen
from hwtop.bundle.mask import Mask
from hwtop.bundle.opened import RECORDING
from hwtop.bundle.parts import add_evidence
from hwtop.config import SymptomConfig
from hwtop.errors import CannotError, HwtopError, UsageError
from hwtop.feed.feed import Store, both, frames
from hwtop.feed.record import Recorder
from hwtop.feed.watch import watch
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot
from hwtop.store.reader import Recording
from hwtop.store.writer import Writer

Progress = Callable[[str], None]
Pictures = Callable[[Frame], dict[str, str | bytes]]
"""Name -> picture of this frame, of which all texts are masked."""


class Order(Struct, frozen=True, kw_only=True):
    """What to put into a bundle."""

    pid: int
    symptoms: SymptomConfig
    most_bytes: int = 100 << 20
    """Of all contents, before compression."""
    seconds: float = 0.0
    """How long to watch for it."""
    log_globs: tuple[str, ...] = ()
    gpus: tuple[int, ...] | None = None


class Watched(Struct, frozen=True, kw_only=True):
    """What a watch that goes on has seen."""

    frame: Frame
    seen: Seen
    snapshots: Sequence[Snapshot]
    """For the recording, oldest first."""


def bundle(order: Order, mask: Mask, folder: Path, progress: Progress, pictures: Pictures) -> bytes:
    """The zip file of this job, which is watched for it. `folder`: private and empty, for the recording; the caller removes it.

    Raises:
        CannotError: the job cannot be read.
    """
    evidence = Evidence()
    writer = _writer(folder, mask)
    recorder = Recorder(lambda: writer)
    try:
        watched = _watched(order, both(evidence.put, recorder.put), progress)
    finally:
        recorder.close()  # before the folder is removed
    return _packed(order, mask, folder, progress, pictures, watched, evidence.seen(), recorder.error)


def bundle_of_watch(
    order: Order, mask: Mask, folder: Path, progress: Progress, pictures: Pictures, watched: Watched
) -> bytes:
    """The same of a job that is watched already: nothing is waited for."""
    progress("masking the last minutes")
    error = masked_recording(watched.snapshots, mask, folder)
    return _packed(order, mask, folder, progress, pictures, watched.frame, watched.seen, error)


def masked_recording(snapshots: Iterable[Snapshot], mask: Mask, folder: Path) -> HwtopError | None:
    """Write a masked recording of these into the folder; why it could not be written, if so."""
    try:
        writer = _writer(folder, mask)
        for snapshot in snapshots:
            writer.add(snapshot)
        writer.close()
    except HwtopError as error:
        return error
    return None


def _writer(folder: Path, mask: Mask) -> Writer:
    return Writer(folder / RECORDING, mask=partial(mask.snapshot, member=RECORDING))


def _packed(
    order: Order,
    mask: Mask,
    folder: Path,
    progress: Progress,
    pictures: Pictures,
    watched: Frame,
    seen: Seen,
    error: HwtopError | None,
) -> bytes:
    """`error`: why the recording in the folder is not whole."""
    progress("collecting")
    archive, place, frame = Archive(order.pid, mask, order.most_bytes), folder / RECORDING, watched
    if seen.snapshot is not None:
        mask.learn(seen.snapshot)
    replayed = _replayed(place, order.symptoms) if error is None else None
    if replayed is not None:
        frame = replayed  # a secret that a report cuts in half would not be recognised any more
    add_evidence(archive, order.pid, frame, watched, seen)
    if replayed is not None:
        archive.add(RECORDING, place.read_bytes())
    else:
        archive.leave_out(RECORDING, str(error or "nothing was recorded"))
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


def _replayed(place: Path, symptoms: SymptomConfig) -> Frame | None:
    """The last frame of the masked recording; None where it is empty."""
    try:
        recording = Recording(place)
    except UsageError:
        return None
    try:
        return next(iter(deque(frames(recording.snapshots(), symptoms=symptoms), maxlen=1)), None)
    finally:
        recording.close()
