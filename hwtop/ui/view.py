"""View: a frame and how the person looks at it. All that a picture depends on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from hwtop.fields.level import Levels
from hwtop.fields.levels import built_in
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.member import JobProcess
from hwtop.model.plan import Request
from hwtop.model.rank import Rank
from hwtop.ui.past import FrameHistory
from hwtop.ui.playback import Playback
from hwtop.ui.widgets.place import Place

State = TypeVar("State")

Tag = tuple[int, int | None]
"""PID and start of a process (as ProcessInfo.start_ticks): a later one with the same PID is another."""


class OwnState:
    """A state that only its own page sees: on the others it is as at the start."""

    __slots__ = ()


class View(Struct, frozen=True, dict=True):
    """Immutable: a key makes a new one. Here is what all pages share; what one page remembers is in `states`."""

    frame: Frame
    opened: str = ""
    """Name of the node that the pages show, of a job over several; "" = the whole job."""
    whole: Frame | None = None
    """The frame of the whole job, where `frame` is that of the opened node."""
    page: str = "overview"
    """One of `pages.registry.NAMES`."""
    states: Mapping[type, object] = field(default_factory=dict)
    """What each page remembers, by the class of its state (`panels/NAME/state.py`), where it is not as at the start."""
    selected: int | None = None
    """Number of the rank that is selected on every page."""
    panel: str = ""
    """The panel that is meant on this page; "" = the one that it is about (see `panel_view.focused`)."""
    alone: str = ""
    """The panel that has the page."""
    hidden: frozenset[str] = frozenset()
    """Panels that the person does not want to see beside others."""
    drawing: tuple[str, ...] = ()
    """How the person lays out the overview (see `panel_grid`); empty = as built in."""
    tagged: frozenset[Tag] = frozenset()
    """Processes that the next signal is meant for."""
    scroll: int = 0
    """Rows away from where the page starts: from the top, in logs from the end."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """What the person has typed on this page: its name, or that of what else has a filter of its own -> the filter."""
    elsewhere: Mapping[str, tuple[Mapping[str, str], Mapping[type, object]]] = field(default_factory=dict)
    """Other pages -> their filters and own states, for when they come into sight again."""
    typing: str = ""
    """Which of them the keys go into; "" = keys do what they are bound to."""
    is_typed_anew: bool = False
    """What is typed next takes the place of the filter that is there, as in a field with all of its text selected."""
    interval_s: float | None = None
    """What the person has set; None = what the frame says."""
    is_idle: bool = False
    """Nobody has used the screen for a while, and all is well: the machine is looked at less often."""
    is_paused: bool = False
    """`frame` stays while newer ones come."""
    past: FrameHistory = field(default_factory=FrameHistory)
    """Earlier frames that can be shown again, the newest last."""
    is_recorded: bool = False
    """What is watched goes into a recording."""
    playback: Playback | None = None
    """A recording is shown, and how; None: a live watch. The picture of a recording is always held."""
    time_typed: str | None = None
    """The time to go to, as far as it is typed; None = no time is asked for."""
    is_readonly: bool = False
    request: Request | None = None
    """The newest thing that the person has asked of the job."""
    came_from: str = ""
    """The page from which a key has led into something on this one, and to which it closes again."""
    note: str = ""
    """A word about the last key, e.g. why a job cannot be attached to."""
    attaching: int | None = None
    """PID of the job that was picked; no frame of it has come yet while there is still a list to pick from."""
    is_first: bool = False
    """The person has never used hwtop: a line tells the few keys that matter, until the next key."""
    is_refusal_read: bool = False
    """Why no rank can be looked into was said, and a key was pressed since."""
    is_sudo_answered: bool = False
    """Whether stacks may be read as root was asked, and answered: it is not asked again."""
    levels: Levels = field(default_factory=built_in)
    """From where on numbers have the colour of a warning: the limits of the rules, as the person has set them."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Id of an action -> its keys, as Textual calls them. Where some are missing, `pages.actions.with_keys` adds the defaults."""

    @cached_property
    def arranged(self) -> dict[tuple[int, int], Mapping[str, Place]]:
        """Cells and rows of the screen -> the places of the panels, as far as worked out (see `pages.layout.arrange`)."""
        return {}

    @property
    def job(self) -> Job | None:
        """The watched job."""
        return self.frame.derived.job

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """Those of the job."""
        return self.job.ranks if self.job else ()

    @property
    def processes(self) -> tuple[JobProcess, ...]:
        """Those of the job."""
        return self.job.processes if self.job else ()

    @property
    def job_frame(self) -> Frame:
        """The frame as it has come: of the whole job, also while one node is opened."""
        return self.whole or self.frame

    @property
    def has_details(self) -> bool:
        """The frame is made of whole Snapshots. That of an opened node is made of its report alone until they come, or where they were
        not recorded."""
        return self.whole is None or (self.whole.opened is not None and self.whole.opened.node == self.opened)

    def state(self, kind: type[State]) -> State:
        """What the page with this class of state remembers."""
        return cast("State", self.states[kind]) if kind in self.states else kind()

    def with_state(self, state: object) -> View:
        """The view with another state of one page. One that is as at the start is not kept, so that equal views are equal."""
        others = {kind: each for kind, each in self.states.items() if kind is not type(state)}
        return replace(self, states=others if state == type(state)() else {**others, type(state): state})

    def at_page(self, page: str) -> View:
        """The view on another page, with the filters and own states of that one."""
        own = {kind: state for kind, state in self.states.items() if issubclass(kind, OwnState)}
        shared = {kind: state for kind, state in self.states.items() if kind not in own}
        elsewhere = {**self.elsewhere, self.page: (self.filters, own)}
        filters, back = elsewhere.pop(page, ({}, {}))
        return replace(self, page=page, filters=filters, states={**shared, **back}, elsewhere=elsewhere)

    def filter_of(self, name: str) -> str:
        """The filter of this page, or of what else has one."""
        return self.filters.get(name, "")

    @property
    def typed(self) -> str:
        """What is typed now."""
        return self.filter_of(self.typing)

    def begun(self, is_written: bool = True) -> str:
        """What a key that writes, or one that edits, finds there."""
        return "" if self.is_typed_anew and is_written else self.typed

    @property
    def is_picking(self) -> bool:
        """No job is watched and there is a list to pick one from."""
        return self.job is None and self.frame.derived.candidates is not None

    @property
    def rank(self) -> Rank | None:
        """The selected rank, if the job has it."""
        return next((rank for rank in self.ranks if rank.rank == self.selected), None)

    @property
    def shown_rank(self) -> Rank | None:
        """The rank that a page about one rank shows: the selected one, else one that is blamed, else the lowest."""
        lowest = self.ranks[0] if self.ranks else None
        return self.rank or next((rank for number in self.blamed for rank in self.ranks if rank.rank == number), lowest)

    @property
    def focused_rank(self) -> int | None:
        """Number of the selected rank, else of the first that is blamed: where a list of ranks is shown, and a step begins."""
        return self.selected if self.selected is not None else next(iter(self.blamed), None)

    @property
    def blamed(self) -> tuple[int, ...]:
        """Ranks that the findings point at, the weightiest finding first."""
        return tuple(dict.fromkeys(rank for finding in self.frame.findings for rank in finding.ranks))
