"""View: a frame and how the person looks at it. All that a picture depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hwtop.fields.level import Levels
from hwtop.fields.levels import built_in
from hwtop.model.curve import CurveName
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.log import LogLine
from hwtop.model.plan import Request
from hwtop.model.rank import Rank
from hwtop.ui.past import FrameHistory
from hwtop.ui.widgets.place import Place

Inside = Literal["", "env", "files"]
"""What the processes page shows of one process; "" = the tree of all."""

LogInside = Literal["", "context", "others"]
"""What the logs page shows below the lines: nothing, the marked line with those around it, what the other ranks said then."""

TREE = "tree"
"""The order of processes that is none of a field: each below its parent."""

Tag = tuple[int, int | None]
"""PID and start of a process (as ProcessInfo.start_ticks): a later one with the same PID is another."""


SEARCH = "search"
"""Where `View.filters` keeps the word that is looked for."""


@dataclass(frozen=True)
class View:
    """Immutable: a key makes a new one."""

    frame: Frame
    page: str = "overview"
    """One of `pages.registry.NAMES`."""
    selected: int | None = None
    """Number of the rank that is selected on every page."""
    process: int | None = None
    """PID under the cursor of the processes page (see `process_view.selected`)."""
    inside: Inside = ""
    """Of the processes page."""
    order: str = "rank"
    """Of the ranks page: the name of a field (see `order.words`)."""
    panel: str = ""
    """The panel that is meant on this page; "" = the one that it is about (see `panel_view.focused`)."""
    alone: str = ""
    """The panel that has the page."""
    hidden: frozenset[str] = frozenset()
    """Panels that the person does not want to see beside others."""
    drawing: tuple[str, ...] = ()
    """How the person lays out the overview (see `panel_grid`); empty = as built in."""
    process_order: str = TREE
    """Of the processes page: the name of a field, or `TREE`."""
    folds: Mapping[int, bool] = field(default_factory=dict)
    """PID of a branch of the tree of processes -> whether the person has it folded; others are as `process_tree` has them."""
    tagged: frozenset[Tag] = frozenset()
    """Processes that the next signal is meant for."""
    followed: Tag | None = None
    """The process whose end is told; it is under the cursor of the processes page."""
    reversed_pages: frozenset[str] = frozenset()
    """Whose tables go the other way round."""
    flame_at: tuple[str, ...] = ()
    """The selected box of the flame: names from the root on (`flame_view.key`)."""
    flame_zoom: int = 0
    """How many of them lie above the box that is drawn at full width."""
    cursor: int = 0
    """Row of the list of jobs to pick from."""
    scroll: int = 0
    """Rows away from where the page starts: from the top, in logs from the end."""
    is_following: bool = True
    """New log lines push the old ones up; else the lines in sight stay."""
    mark: LogLine | None = None
    """The line that was jumped to or clicked at."""
    log_inside: LogInside = ""
    """Of the logs page."""
    curve: CurveName | None = None
    """The one that is drawn large; None = the first."""
    curve_source: int = 0
    """Which of the sources that tell it."""
    log_scales: frozenset[CurveName] = frozenset()
    """Curves that are drawn on a log scale."""
    gpu: int | None = None
    """Index of the device under the cursor of the GPU page (see `gpu_view.selected`)."""
    finding: str | None = None
    """Symptom under the cursor of the symptoms page (see `symptom_view.selected`)."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """What the person has typed, by `subject`."""
    is_typing: bool = False
    """Keys go into the filter of this page, or into the search."""
    is_searching: bool = False
    """What is typed is the word to search for in the logs."""
    interval_s: float | None = None
    """What the person has set; None = what the frame says."""
    is_paused: bool = False
    """`frame` stays while newer ones come."""
    past: FrameHistory = field(default_factory=FrameHistory)
    """Earlier frames that can be shown again, the newest last."""
    time_typed: str | None = None
    """The time to go to, as far as it is typed; None = no time is asked for."""
    is_readonly: bool = False
    request: Request | None = None
    """The newest thing that the person has asked of the job."""
    note: str = ""
    """A word about the last key, e.g. why a job cannot be attached to."""
    attaching: int | None = None
    """PID of the job that was picked; no frame of it has come yet while there is still a list to pick from."""
    is_first: bool = False
    """The person has never used hwtop: a line tells the few keys that matter, until the next key."""
    is_refusal_read: bool = False
    """Why no rank can be looked into was said, and a key was pressed since."""
    levels: Levels = field(default_factory=built_in)
    """From where on numbers have the colour of a warning: the limits of the rules, as the person has set them."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Id of an action -> its keys, as Textual calls them. Where some are missing, `pages.actions.with_keys` adds the defaults."""
    arranged: dict[tuple[int, int], Mapping[str, Place]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cells and rows of the screen -> the places of the panels, as far as worked out (see `pages.layout.arrange`)."""

    @property
    def job(self) -> Job | None:
        """The watched job."""
        return self.frame.derived.job

    @property
    def subject(self) -> str:
        """What has a filter of its own: the page, or what it shows of one process."""
        return self.inside if self.page == "processes" and self.inside else self.page

    @property
    def typed(self) -> str:
        """What is typed now."""
        return self.search if self.is_searching else self.filter

    @property
    def search(self) -> str:
        """The word that is looked for in the logs; it is marked in the lines, and hides none."""
        return self.filters.get(SEARCH, "")

    @property
    def filter(self) -> str:
        """Of this page."""
        return self.filters.get(self.subject, "")

    @property
    def is_picking(self) -> bool:
        """No job is watched and there is a list to pick one from."""
        return self.job is None and self.frame.derived.candidates is not None

    @property
    def rank(self) -> Rank | None:
        """The selected rank, if the job has it."""
        ranks = self.job.ranks if self.job else ()
        return next((rank for rank in ranks if rank.rank == self.selected), None)

    @property
    def shown_rank(self) -> Rank | None:
        """The rank that a page about one rank shows: the selected one, else one that is blamed, else the lowest."""
        ranks = self.job.ranks if self.job else ()
        blamed = self.blamed
        lowest = ranks[0] if ranks else None
        return self.rank or next((rank for number in blamed for rank in ranks if rank.rank == number), lowest)

    @property
    def blamed(self) -> tuple[int, ...]:
        """Ranks that the findings point at, the weightiest finding first."""
        return tuple(dict.fromkeys(rank for finding in self.frame.findings for rank in finding.ranks))
