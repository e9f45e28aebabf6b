"""All pages. Tabs, help, palette, remapping, `--page` and the generated page of keys follow from this list."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.ui.pages import page as base
from hwtop.ui.pages.curves import CurvesPage
from hwtop.ui.pages.flame import FlamePage
from hwtop.ui.pages.fleet import FleetPage
from hwtop.ui.pages.gpu import GpuPage
from hwtop.ui.pages.host import HostPage
from hwtop.ui.pages.logs import LogsPage
from hwtop.ui.pages.overview import OverviewPage
from hwtop.ui.pages.page import Page, PagePanel
from hwtop.ui.pages.picker import PickerPage
from hwtop.ui.pages.processes import ProcessesPage
from hwtop.ui.pages.ranks import RanksPage
from hwtop.ui.pages.stacks import StacksPage
from hwtop.ui.pages.symptoms import SymptomsPage
from hwtop.ui.reducers import fleet
from hwtop.ui.view import View

PAGES: tuple[Page, ...] = (
    FleetPage(),
    OverviewPage(),
    RanksPage(),
    StacksPage(),
    FlamePage(),
    LogsPage(),
    CurvesPage(),
    GpuPage(),
    HostPage(),
    ProcessesPage(),
    SymptomsPage(),
)
"""In the order of their tabs."""
PICKER = PickerPage()
NAMES: tuple[str, ...] = tuple(page.name for page in PAGES)
PANELS: dict[str, PagePanel] = {name: panel for page in (*PAGES, PICKER) for name, panel in page.panels.items()}
_BY_NAME = {page.name: page for page in PAGES}


def named(name: str) -> Page:
    """The page of this name."""
    return _BY_NAME[name]


def current(view: View) -> Page:
    """The page in view."""
    return PICKER if view.is_picking else _BY_NAME[view.page]


def panel(view: View, name: str) -> PagePanel | None:
    """This panel as the page in view has it; None where no page defines it."""
    return current(view).variants.get(name) or PANELS.get(name)


def settled(before: View, after: View) -> View:
    """What a reducer has made, at the start of the page that it has turned to."""
    return after if after.page == before.page else current(after).entered(after)


def turned(view: View, name: str) -> View:
    """The view on the page of this name, from its start; the selection stays. Of a job over several nodes, one that is about a machine
    opens the node that is selected."""
    page = named(name)
    if page.is_of_job or not view.frame.nodes:
        return page.entered(base.turned(view, name))
    view = fleet.opened_there(view)
    return replace(page.entered(base.turned(view, name)), note=view.note)


def tabs(view: View) -> tuple[Page, ...]:
    """The pages that have a tab; the one in view always."""
    return tuple(page for page in PAGES if page.is_there(view) or page.name == view.page)


def first(view: View) -> View:
    """The view on its first page: that of the nodes, where a job over several is watched."""
    return replace(view, page=next(page.name for page in PAGES if page.is_there(view)))


def neighbour(view: View, step: int) -> str:
    """The page `step` tabs further."""
    names = [page.name for page in tabs(view)]
    return names[(names.index(view.page) + step) % len(names)]


def cleared(view: View) -> View:
    """Without selection, mark and scroll."""
    for page in PAGES:
        view = page.cleared(view)
    return replace(view, scroll=0, selected=None, panel="")
