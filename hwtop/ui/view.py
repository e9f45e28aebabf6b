"""View: a frame and how the person looks at it. All that a picture depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hwtop.model.frame import Frame
from hwtop.model.job import Job, Rank
from hwtop.model.log import LogLine

Page = Literal["overview", "stacks", "logs", "processes"]
PAGES: tuple[Page, ...] = ("overview", "stacks", "logs", "processes")


@dataclass(frozen=True)
class View:
    """Immutable: a key makes a new one."""

    frame: Frame
    page: Page = "overview"
    selected: int | None = None
    """Number of the rank that is selected on every page."""
    cursor: int = 0
    """Row of the list of jobs to pick from."""
    scroll: int = 0
    """Rows away from where the page starts: from the top, in logs from the end."""
    is_following: bool = True
    """New log lines push the old ones up; else the lines in sight stay."""
    mark: LogLine | None = None
    """The flagged line that was jumped to."""
    filters: Mapping[Page, str] = field(default_factory=dict)
    """What the person has typed, page by page."""
    is_typing: bool = False
    """Keys go into the filter of this page."""
    interval_s: float | None = None
    """What the person has set; None = what the frame says."""
    is_paused: bool = False
    is_readonly: bool = False
    note: str = ""
    """A word about the last key, e.g. why a job cannot be attached to."""

    @property
    def job(self) -> Job | None:
        """The watched job."""
        return self.frame.moment.job

    @property
    def filter(self) -> str:
        """Of this page."""
        return self.filters.get(self.page, "")

    @property
    def is_picking(self) -> bool:
        """No job is watched and there is a list to pick one from."""
        return self.job is None and self.frame.moment.candidates is not None

    @property
    def rank(self) -> Rank | None:
        """The selected rank, if the job has it."""
        ranks = self.job.ranks if self.job else ()
        return next((rank for rank in ranks if rank.rank == self.selected), None)

    @property
    def blamed(self) -> tuple[int, ...]:
        """Ranks that the findings point at, the weightiest finding first."""
        return tuple(dict.fromkeys(rank for finding in self.frame.findings for rank in finding.ranks))
