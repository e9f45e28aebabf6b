"""Incident: the evidence of a hang or crash, saved before the watchdog or the launcher ends the job."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from hwtop.bundle.evidence import Evidence, Seen
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot

_MOST_BYTES = 16 << 20
"""Of one incident, before compression."""
_FINISH_S = 20.0
"""How long hwtop waits for what is being saved when it leaves."""
_PAST_S = 300.0
"""Of the recording in an incident; engineering default: masking it takes a second or two of CPU time."""
Past = Callable[[float], Sequence[Snapshot]]
"""What was read in the last so many seconds."""
Save = Callable[[Frame, Seen, Past], Path]


class IncidentKeeper:
    """Of one job that is watched. `store` and `advance` belong to the feed: they never block and never raise."""

    def __init__(self, save: Save | None, past: Past) -> None:
        """`save`: None = nothing is saved."""
        self._save, self._past = save, past
        self._evidence = Evidence()
        self._is_grave = False
        self._thread: threading.Thread | None = None
        self.saved: Path | None = None
        """The newest incident."""

    def store(self, snapshot: Snapshot) -> None:
        """What was read for the next frame."""
        self._evidence.put(snapshot)

    def seen(self) -> Seen:
        """The newest of what was read."""
        return self._evidence.seen()

    def advance(self, frame: Frame) -> None:
        """Begins to save when the first critical finding of a hang or crash is raised, and again only after all of them have cleared."""
        was_grave, self._is_grave = self._is_grave, is_grave(frame)
        if self._save is None or was_grave or not self._is_grave or (self._thread and self._thread.is_alive()):
            return
        arguments = (self._save, frame, self.seen())
        self._thread = threading.Thread(target=self._work, args=arguments, name="hwtop-incident", daemon=True)
        self._thread.start()

    def finish(self) -> Path | None:
        """Where the newest incident is, if there is one; waits while it is being saved, some seconds at most."""
        if self._thread is not None:
            self._thread.join(_FINISH_S)
        return self.saved

    def _work(self, save: Save, frame: Frame, seen: Seen) -> None:
        try:
            self.saved = save(frame, seen, self._past)
        except Exception:  # the user did not ask for the file, and the watch goes on
            self.saved = None


def nothing(_: float) -> Sequence[Snapshot]:
    """No past was kept."""
    return ()


def keeper(is_wanted: bool, past: Past = nothing) -> IncidentKeeper:
    """One that saves on this machine, if the setting is on."""
    return IncidentKeeper(saved if is_wanted else None, past)


def is_grave(frame: Frame) -> bool:
    """Whether the job hangs or has crashed: it will be ended, or has ended, and its state is lost with it."""
    return frame.derived.job is not None and any(
        finding.severity == "critical" and finding.category == "stability" for finding in frame.findings
    )


def saved(frame: Frame, seen: Seen, past: Past) -> Path:
    """Saves an incident of this frame; the oldest ones go. The evidence comes first, and is on disk before the recording is masked.

    Raises:
        OSError: it cannot be written.
    """
    from hwtop.bundle import incidents  # only for a job in trouble: importing them takes as long as starting the screen
    from hwtop.bundle.archive import Archive
    from hwtop.bundle.make import masked_recording
    from hwtop.bundle.mask import Mask
    from hwtop.bundle.opened import RECORDING
    from hwtop.bundle.parts import add_evidence

    assert frame.derived.job is not None
    pid = frame.derived.job.target_pid
    mask = Mask()
    archive = Archive(pid, mask, _MOST_BYTES)
    add_evidence(archive, pid, frame, frame, seen)
    incidents.save(pid, frame.derived.time_s, archive.content(frame.derived.time_s))
    with tempfile.TemporaryDirectory(prefix="hwtop-") as folder:
        error = masked_recording(past(_PAST_S), mask, Path(folder))
        if error is None:
            archive.add(RECORDING, (Path(folder) / RECORDING).read_bytes())
        else:
            archive.leave_out(RECORDING, str(error))
    return incidents.save(pid, frame.derived.time_s, archive.content(frame.derived.time_s))
